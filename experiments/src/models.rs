//! Models of the NETSTORM paper's Fig. 19a, as sizes of their parameter tensors.

/// A model that is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Model {
    /// MobileNet (version 1, width 1).
    MobileNet,
    /// ResNet with this number of layers: 18, 34, 50, 101 or 152.
    ResNet(u32),
    /// AlexNet as NETSTORM's released source has it.
    AlexNet,
}

/// Images of one channel, ten classes: Fashion-MNIST.
const CHANNELS: u64 = 1;
const CLASSES: u64 = 10;

/// Weights and biases of the released AlexNet, in numbers of parameters.
const ALEXNET: [u64; 16] = [
    7744, 64, 307_200, 192, 663_552, 384, 884_736, 256, 589_824, 256, 37_748_736, 4096, 16_777_216, 4096,
    40_960, 10,
];

impl Model {
    /// Models of Fig. 19a, in order of their number of parameters.
    pub const ALL: [Model; 7] = [
        Model::MobileNet,
        Model::ResNet(18),
        Model::ResNet(34),
        Model::ResNet(50),
        Model::ResNet(101),
        Model::AlexNet,
        Model::ResNet(152),
    ];

    /// Returns the name of the model.
    pub fn name(self) -> String {
        match self {
            Model::MobileNet => "MobileNet".to_owned(),
            Model::ResNet(layers) => format!("ResNet-{layers}"),
            Model::AlexNet => "AlexNet".to_owned(),
        }
    }

    /// Returns the number of parameters of each tensor, for Fashion-MNIST.
    pub fn tensors(self) -> Vec<u64> {
        match self {
            Model::AlexNet => ALEXNET.to_vec(),
            Model::MobileNet => mobilenet(CHANNELS, CLASSES),
            Model::ResNet(layers) => resnet(layers, CHANNELS, CLASSES),
        }
    }

    /// Returns the number of parameters.
    pub fn parameters(self) -> u64 {
        self.tensors().iter().sum()
    }
}

/// A convolution without a bias, and the scale and shift of the normalization behind it.
fn convolution(tensors: &mut Vec<u64>, inputs: u64, outputs: u64, width: u64) {
    tensors.extend([inputs * outputs * width * width, outputs, outputs]);
}

fn classifier(tensors: &mut Vec<u64>, inputs: u64, classes: u64) {
    tensors.extend([inputs * classes, classes]);
}

fn resnet(layers: u32, channels: u64, classes: u64) -> Vec<u64> {
    let (blocks, is_bottleneck) = match layers {
        18 => ([2, 2, 2, 2], false),
        34 => ([3, 4, 6, 3], false),
        50 => ([3, 4, 6, 3], true),
        101 => ([3, 4, 23, 3], true),
        _ => ([3, 8, 36, 3], true),
    };
    let mut tensors = Vec::new();
    convolution(&mut tensors, channels, 64, 7);
    let mut inputs = 64;
    for (stage, count) in (0..).zip(blocks) {
        let inner = 64 << stage;
        let outputs = if is_bottleneck { 4 * inner } else { inner };
        for _ in 0..count {
            if is_bottleneck {
                convolution(&mut tensors, inputs, inner, 1);
                convolution(&mut tensors, inner, inner, 3);
                convolution(&mut tensors, inner, outputs, 1);
            } else {
                convolution(&mut tensors, inputs, inner, 3);
                convolution(&mut tensors, inner, outputs, 3);
            }
            if inputs != outputs {
                convolution(&mut tensors, inputs, outputs, 1);
            }
            inputs = outputs;
        }
    }
    classifier(&mut tensors, inputs, classes);
    tensors
}

fn mobilenet(channels: u64, classes: u64) -> Vec<u64> {
    let mut tensors = Vec::new();
    convolution(&mut tensors, channels, 32, 3);
    let mut inputs = 32;
    for outputs in [64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024] {
        // By channel, then across channels.
        convolution(&mut tensors, 1, inputs, 3);
        convolution(&mut tensors, inputs, outputs, 1);
        inputs = outputs;
    }
    classifier(&mut tensors, inputs, classes);
    tensors
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that are published for ImageNet: three channels, a thousand classes.
    #[test]
    fn known_numbers_of_parameters() {
        let published =
            [(18, 11_689_512), (34, 21_797_672), (50, 25_557_032), (101, 44_549_160), (152, 60_192_808)];
        for (layers, parameters) in published {
            assert_eq!(resnet(layers, 3, 1000).iter().sum::<u64>(), parameters);
        }
        assert_eq!(mobilenet(3, 1000).iter().sum::<u64>(), 4_231_976);
        assert_eq!(Model::AlexNet.parameters(), 57_029_322);
        assert!(Model::ALL.map(Model::parameters).is_sorted());
    }
}
