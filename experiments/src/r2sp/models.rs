//! Models of the R²SP paper, with the times of its tables.

/// A model that workers train.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    ResNet32,
    AlexNet,
    Vgg16,
    Inception,
    /// T5-Small: 60 million parameters.
    T5,
    /// BERT: 110 million parameters.
    Bert,
}

impl Model {
    /// Models of Table I, in its order.
    pub const TABLE_1: [Model; 4] = [Model::ResNet32, Model::AlexNet, Model::Vgg16, Model::Inception];
    /// Models of Fig. 14.
    pub const NLP: [Model; 2] = [Model::T5, Model::Bert];

    pub fn name(self) -> &'static str {
        match self {
            Model::ResNet32 => "ResNet32",
            Model::AlexNet => "AlexNet",
            Model::Vgg16 => "VGG16",
            Model::Inception => "Inception-v3",
            Model::T5 => "T5-Small",
            Model::Bert => "BERT",
        }
    }

    /// Returns the compute time of an iteration, in seconds: Table I's iteration less its communication. The
    /// R²SP paper states none for the models of Fig. 14; 1 s is assumed.
    pub fn compute_s(self) -> f64 {
        match self {
            Model::ResNet32 => 0.12,
            Model::AlexNet => 0.5,
            Model::Vgg16 | Model::Inception => 0.7,
            Model::T5 | Model::Bert => 1.0,
        }
    }

    /// Returns the time in which the model passes the ports of two servers at full rate, in seconds: a
    /// sixteenth of Table I's communication, since eight workers push and pull there.
    pub fn pass_s(self) -> f64 {
        match self {
            Model::ResNet32 => 0.11 / 16.0,
            Model::AlexNet => 2.89 / 16.0,
            Model::Vgg16 => 9.04 / 16.0,
            Model::Inception => 1.27 / 16.0,
            // float32 over two ports of 100 Gbit/s.
            Model::T5 => 60e6 * 32.0 / 200e9,
            Model::Bert => 110e6 * 32.0 / 200e9,
        }
    }
}

/// A model that clients train. Its times are fitted: with them, runs of BSP give BSP's rows of Tables IV and
/// V. The time of a transfer alone is FL-R²SP's push in Table V.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientModel {
    Cnn,
    Lstm,
    ResNet20,
}

impl ClientModel {
    /// All models, in the order of Table IV.
    pub const ALL: [ClientModel; 3] = [ClientModel::Cnn, ClientModel::Lstm, ClientModel::ResNet20];

    pub fn name(self) -> &'static str {
        match self {
            ClientModel::Cnn => "CNN",
            ClientModel::Lstm => "LSTM",
            ClientModel::ResNet20 => "ResNet20",
        }
    }

    /// Returns the compute time of a client per round, in seconds.
    pub fn compute_s(self) -> f64 {
        match self {
            ClientModel::Cnn => 7.048,
            ClientModel::Lstm => 6.418,
            ClientModel::ResNet20 => 28.686,
        }
    }

    /// Returns the times in which an update enters and the model leaves the server's port at full rate, in
    /// seconds.
    pub fn pass_s(self) -> [f64; 2] {
        match self {
            ClientModel::Cnn => [0.0091, 0.02252],
            ClientModel::Lstm => [0.00802, 0.01775],
            ClientModel::ResNet20 => [0.04103, 0.10543],
        }
    }

    /// Returns the time of a transfer that has the server's port to itself, in seconds. The client's port
    /// limits it.
    pub fn alone_s(self) -> f64 {
        match self {
            ClientModel::Cnn | ClientModel::Lstm => 0.34,
            ClientModel::ResNet20 => 0.47,
        }
    }
}
