//! Tests of machines whose network can be cut: kernel namespaces, which need root. If namespaces
//! are not available, the tests print a notice and are skipped.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use super::{assert_untouched, impatient};
use crate::resume::wait_for_pairs;
use crate::support::bench::{Bench, Running};
use crate::support::nats::{LEASE, Server, Worker};
use crate::support::plan::{Plan, RunOutput};
use crate::support::store;

/// A hub with a server, and machines connected to it, all in separate namespaces.
struct Network {
    hub: String,
    machines: Vec<String>,
}

fn ip(args: &[&str]) -> bool {
    Command::new("ip").args(args).output().is_ok_and(|output| output.status.success())
}

impl Network {
    /// Creates a hub and `count` machines.
    fn new(bench: &Bench, count: usize) -> Option<Network> {
        let marker = bench.marker();
        let network = Network {
            hub: format!("{marker}-hub"),
            machines: (0..count).map(|number| format!("{marker}-{number}")).collect(),
        };
        if !network.is_built() {
            eprintln!("skipped: network namespaces need root and the program ip");
            return None;
        }
        Some(network)
    }

    fn is_built(&self) -> bool {
        let hub = self.hub.as_str();
        let base = ip(&["netns", "add", hub])
            && ip(&["-n", hub, "link", "add", "bridge", "type", "bridge"])
            && ip(&["-n", hub, "addr", "add", "10.77.0.1/24", "dev", "bridge"])
            && ip(&["-n", hub, "link", "set", "bridge", "up"])
            && ip(&["-n", hub, "link", "set", "lo", "up"]);
        base && self.machines.iter().zip(10..).all(|(machine, number)| {
            let port = format!("port{number}");
            let address = format!("10.77.0.{number}/24");
            ip(&["netns", "add", machine])
                && ip(&[
                    "-n", hub, "link", "add", &port, "type", "veth", "peer", "name", "eth0",
                    "netns", machine,
                ])
                && ip(&["-n", hub, "link", "set", &port, "master", "bridge", "up"])
                && ip(&["-n", machine, "addr", "add", &address, "dev", "eth0"])
                && ip(&["-n", machine, "link", "set", "eth0", "up"])
                && ip(&["-n", machine, "link", "set", "lo", "up"])
        })
    }

    /// Disconnects or reconnects a machine.
    fn set(&self, machine: usize, state: &str) {
        let port = format!("port{}", 10 + machine);
        assert!(ip(&["-n", &self.hub, "link", "set", &port, state]), "a plug cannot be moved");
    }

    /// Disconnects a machine for some time.
    fn cut(&self, machine: usize, time: Duration) {
        self.set(machine, "down");
        sleep(time);
        self.set(machine, "up");
    }

    fn server(&self, bench: &Bench) -> Option<Server> {
        Server::start_at(bench, "10.77.0.1", 4222, Some(self.hub.clone()), "")
    }

    /// Starts a run on a machine.
    fn start(&self, machine: usize, plan: Plan<'_>) -> Running {
        plan.start_by(&format!("exec ip netns exec {} \"$0\" \"$@\"", self.machines[machine]))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for namespace in self.machines.iter().chain([&self.hub]) {
            ip(&["netns", "del", namespace]);
        }
    }
}

#[test]
fn an_sprt_on_three_machines_equals_one_on_a_single_machine() {
    let plan = |bench| {
        let plan = Plan::new(bench, "sprt", 100).set("elo0", 0).set("elo1", 200);
        let plan = plan.set("model", "logistic").set("each", "nodes=200,option.Hash=1");
        plan.engine("name=A,cmd=bundled".into()).engine("name=B,cmd=bundled,eval=material".into())
    };
    let bench = Bench::new();
    let finished = plan(&bench).run();
    let local = RunOutput::read(&bench, &finished);
    let bench = Bench::new();
    let Some(network) = Network::new(&bench, 4) else { return };
    let Some(server) = network.server(&bench) else { return };
    let _workers = [1, 2, 3].map(|machine| {
        Worker::start_in(&bench, &server, &format!("w{machine}"), &network.machines[machine])
    });
    let plan = plan(&bench).unset("concurrency").set("on", server.url());
    let distant = network.start(0, plan).finish();
    assert_eq!(distant.code, finished.code, "{distant:#?}");
    assert_eq!(RunOutput::read(&bench, &distant), local);
    assert_eq!(store::players(&bench.path("results")).len(), 3);
}

#[test]
fn network_outages_lose_nothing() {
    let bench = Bench::new();
    let Some(network) = Network::new(&bench, 3) else { return };
    let Some(server) = network.server(&bench) else { return };
    let _workers = [1, 2].map(|machine| {
        Worker::start_in(&bench, &server, &format!("w{machine}"), &network.machines[machine])
    });
    let running = network.start(0, impatient(&bench, &server));
    wait_for_pairs(&bench, 1);
    network.cut(1, LEASE / 4);
    // The coordinator is disconnected too: results wait, and it receives them when it is back.
    network.cut(0, LEASE / 2);
    network.cut(2, 3 * LEASE);
    assert_untouched(&bench, running);
}
