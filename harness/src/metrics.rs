//! Prometheus metrics, on a separate port.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use clap::Args;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::runtime::Handle;

use crate::{failure::Failure, fleet::Fleet};
use arbiter_game::outcome::Termination;
use arbiter_report::note;
use arbiter_run::{Observer, ObserverError, Pace, RunEvent};
use arbiter_serve::serve_metrics;

/// Address at which metrics are served, if any.
#[derive(Debug, Default, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct MetricsArgs {
    /// Serve Prometheus metrics at http://ADDR:PORT/metrics; PORT alone listens only on 127.0.0.1;
    /// port 0 selects a free port
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = address)]
    metrics: Option<SocketAddr>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|_| text.parse()).map_err(|_| "expected PORT or ADDR:PORT".to_owned())
}

/// Open port, and the metrics to serve on this port.
#[derive(Debug)]
pub(crate) struct Endpoint {
    listener: TcpListener,
    pub registry: Registry,
}

impl MetricsArgs {
    /// Opens the port before anything else starts, so that an occupied port is reported early.
    /// Returns `None` without the flag.
    pub(crate) fn open(self) -> Result<Option<Endpoint>, Failure> {
        let Some(address) = self.metrics else { return Ok(None) };
        let open = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) = open().map_err(|error: std::io::Error| {
            Failure::environment(format!("--metrics: cannot listen on {address}: {error}"))
        })?;
        note(&format!("Prometheus metrics at http://{address}/metrics"));
        Ok(Some(Endpoint { listener, registry: Registry::default() }))
    }
}

impl Endpoint {
    /// Serves the metrics until the runtime is shut down.
    pub(crate) fn serve(self, runtime: &Handle) -> Result<(), Failure> {
        let _inside = runtime.enter();
        let listener = self.listener.try_into().map_err(Failure::environment)?;
        runtime.spawn(serve_metrics(listener, self.registry));
        Ok(())
    }

    /// Serves the metrics of a run and, if there is a coordinator, of the coordinator. Returns the
    /// observer that updates the metrics.
    pub(crate) fn observer(
        mut self,
        runtime: &Handle,
        fleet: Option<&Fleet>,
    ) -> Result<RunMetrics, Failure> {
        #[cfg(feature = "cluster")]
        if let Some(fleet) = fleet {
            fleet.metrics.register_coordinator(&mut self.registry);
        }
        #[cfg(not(feature = "cluster"))]
        let _ = fleet;
        let metrics = RunMetrics::default();
        metrics.register(&mut self.registry);
        self.serve(runtime)?;
        Ok(metrics)
    }
}

type Labels = [(&'static str, String); 1];

/// Observer that updates the metrics of a run.
#[derive(Debug, Default)]
pub(crate) struct RunMetrics {
    /// State of the run: 1 for the current state, 0 for all other states.
    state: Family<Labels, Gauge>,
    /// Number of counted pairs; this number decreases when a worker is excluded.
    counted: Gauge,
    /// Number of pairs counted since the start of this process.
    pairs: Counter,
    /// Number of engine faults in counted games since the start of this process, by kind.
    faults: Family<Labels, Counter>,
    /// Number of pairs affected by CPU contention since the start of this process.
    disturbed: Counter,
}

impl RunMetrics {
    fn register(&self, registry: &mut Registry) {
        self.set_state(Pace::Running);
        for kind in Termination::ALL.into_iter().filter(|kind| kind.is_fault()) {
            // Each label exists from the start with the value 0, so that a collector sees the first
            // fault as an increase.
            let _ = self.faults.get_or_create(&[("kind", kind.to_string())]);
        }
        let help = "1 if the run is in this state";
        registry.register("arbiter_run_state", help, self.state.clone());
        registry.register("arbiter_run_pairs", "Counted pairs of the run", self.counted.clone());
        let help = "Pairs counted since this process started";
        registry.register("arbiter_pairs", help, self.pairs.clone());
        let help = "Counted games that ended by an engine fault, since this process started";
        registry.register("arbiter_faults", help, self.faults.clone());
        let help = "Pairs disturbed by the machine, since this process started";
        registry.register("arbiter_disturbed_pairs", help, self.disturbed.clone());
    }

    fn set_state(&self, now: Pace) {
        for pace in [Pace::Running, Pace::Paused, Pace::Draining] {
            let labels = [("state", pace.to_string())];
            self.state.get_or_create(&labels).set((pace == now).into());
        }
    }
}

impl Observer for RunMetrics {
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        match event {
            RunEvent::Started(state) | RunEvent::WorkerExcluded { state, .. } => {
                self.counted.set(state.counted_pairs().count() as i64);
            }
            RunEvent::Counted { tally, .. } => {
                self.counted.inc();
                self.pairs.inc();
                for game in tally.games().filter(|game| game.fault.is_some()) {
                    self.faults.get_or_create(&[("kind", game.termination.to_string())]).inc();
                }
            }
            RunEvent::Disturbed { .. } => {
                self.disturbed.inc();
            }
            RunEvent::Steered { pace, .. } => self.set_state(*pace),
            RunEvent::Draining(_) => self.set_state(Pace::Draining),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_without_address_is_on_loopback() {
        for (text, expected) in [
            ("9464", Ok("127.0.0.1:9464")),
            ("0.0.0.0:9464", Ok("0.0.0.0:9464")),
            ("[::1]:0", Ok("[::1]:0")),
            ("localhost", Err("expected PORT or ADDR:PORT")),
        ] {
            let read = address(text).map(|address| address.to_string());
            assert_eq!(read, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
    }
}
