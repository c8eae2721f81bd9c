//! Counters of a host.

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
            /// Adds the counters.
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)*
            }
        }

        impl Sub for $name {
            type Output = Self;

            /// Returns the difference since `earlier`.
            fn sub(self, earlier: Self) -> Self {
                Self { $($field: self.$field - earlier.$field,)* }
            }
        }
    };
}

counters!(
    /// Counters of a worker.
    WorkerCounters {
        /// Frames sent, of any kind.
        frames_sent,
        /// Bytes of frames sent.
        bytes_sent,
        /// Chunks retransmitted because no result arrived in time.
        retransmissions,
        /// Gradient frames sent with flag bypass.
        bypasses,
        /// INART frames received for this worker.
        frames_received,
        /// Bytes of INART frames received.
        bytes_received,
        /// Results that ended a chunk.
        results,
        /// Results with a congestion mark.
        marked,
        /// Results for chunks that had ended before, or that need no contribution of this worker.
        duplicates,
        /// Requests to send a chunk by bypass.
        requests,
        /// Results and messages of another run of the plan version, or for another incarnation of the worker.
        other_runs,
        /// Frames of another plan version, job, shard or worker, or kinds that are not for workers.
        foreign,
        /// Frames with an invalid header.
        malformed,
    }
);

counters!(
    /// Counters of a parameter server.
    ServerCounters {
        /// INART frames received for this shard: the server's ingress.
        frames_received,
        /// Bytes of INART frames received.
        bytes_received,
        /// Gradient frames added: workers that no switch summed.
        gradients,
        /// Partials added.
        partials,
        /// Gradients and partials with a congestion mark.
        marked,
        /// Workers summed in the added partials: frames that the network saved this server.
        summed_in_network,
        /// Frames whose contributors had all contributed already.
        repeats,
        /// Frames refused because some, but not all, of their contributors had contributed already.
        overlaps,
        /// Partials discarded because of a saturated sum.
        overflows,
        /// Gradients with values that no worker may send: the job is aborted.
        other_numbers,
        /// Frames of chunks whose results are not kept any more, or that no worker may send yet.
        out_of_window,
        /// Frames of another length or exponent than the chunk, or with another last-chunk flag.
        other_shapes,
        /// Frames of another run of the plan version.
        other_runs,
        /// Frames of another plan version, job or shard, of unknown workers, or of kinds that are not for
        /// servers.
        foreign,
        /// Frames with an invalid header.
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
        /// Bytes of frames sent.
        bytes_sent,
    }
);
