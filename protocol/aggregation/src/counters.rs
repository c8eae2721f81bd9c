//! What a host counts.

use core::ops::{AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// A struct of `u64` counters with the difference between two readings, and the sum of two counts.
macro_rules! counters {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: u64,)*
        }

        impl AddAssign for $name {
            /// What was counted in both.
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)*
            }
        }

        impl Sub for $name {
            type Output = Self;

            /// What was counted since `earlier`.
            fn sub(self, earlier: Self) -> Self {
                Self { $($field: self.$field - earlier.$field,)* }
            }
        }
    };
}

counters!(
    /// What a worker sent and received.
    WorkerCounters {
        /// Frames sent, of any kind.
        frames_sent,
        /// Their bytes.
        bytes_sent,
        /// Chunks retransmitted because no result came in time.
        retransmissions,
        /// Gradient frames sent with flag bypass.
        bypasses,
        /// INART frames received for this worker.
        frames_received,
        /// Their bytes.
        bytes_received,
        /// Results that ended a chunk.
        results,
        /// Those of them that had a congestion mark.
        marked,
        /// Results for chunks that had ended before, or that this worker need not be in.
        duplicates,
        /// Requests to send a chunk by bypass.
        requests,
        /// Results and messages of another run of the plan version, or for another incarnation of the worker.
        other_runs,
        /// Frames of another plan version, job, shard or worker, or kinds that are not for workers.
        foreign,
        /// Frames that break the rules of the header.
        malformed,
    }
);

counters!(
    /// What a parameter server received, decided and sent.
    ServerCounters {
        /// INART frames received for this shard: the server's ingress.
        frames_received,
        /// Their bytes.
        bytes_received,
        /// Gradient frames added: workers that no switch summed.
        gradients,
        /// Partials added.
        partials,
        /// Those of both that had a congestion mark.
        marked,
        /// Workers summed in those partials: frames that the network took off this server.
        summed_in_network,
        /// Frames whose contributors were all there already.
        repeats,
        /// Frames refused because some, not all, of their contributors were there already.
        overlaps,
        /// Partials discarded because a sum saturated on the way.
        overflows,
        /// Gradients with values that no worker may send: the job is aborted.
        other_numbers,
        /// Frames of chunks whose results are kept no more, or that no worker may send yet.
        out_of_window,
        /// Frames of another length or exponent than the chunk, or of which only one is the last.
        other_shapes,
        /// Frames of another run of the plan version.
        other_runs,
        /// Frames of another plan version, job or shard, of workers the job does not have, or kinds that are
        /// not for servers.
        foreign,
        /// Frames that break the rules of the header.
        malformed,
        /// Keep-alives of workers.
        keepalives,
        /// Chunks completed.
        chunks,
        /// Results sent for the first time.
        results_sent,
        /// Results retransmitted.
        resends_sent,
        /// Requests to send a chunk by bypass.
        requests_sent,
        /// Frames sent, of any kind.
        frames_sent,
        /// Their bytes.
        bytes_sent,
    }
);
