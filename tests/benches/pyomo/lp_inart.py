"""LP-InArt, Eq. (5) of the InArt paper, written in Pyomo literally and solved by HiGHS.

The other side of the comparison in tests/benches/src/planner: nothing is merged, nothing is certified. Path form over all
shortest paths; hosts never forward. Every y, z and q is multiplied by F_s, which makes the program linear with F_s (and so
the shares x_s = F_s / f) free; equal shares fix F_s = f / S. Three misprints are repaired: the trunk's paths carry z, not y;
q of a worker's path to a switch has the index s; q of the direct paths stands outside the sum over switches.

Usage: lp_inart.py TOPOLOGY.json [--shares free|equal] [--method choose|ipm]; prints one line of JSON.
"""

import argparse
import json
import time
from collections import defaultdict, deque

import pyomo.environ as pyo


def bps(rate):
    """Returns a rate like "20000000 bps" as a number."""
    return float(rate.removesuffix(" bps"))


class Network:
    """Returns the residual capacities, and the shortest paths."""

    def __init__(self, document):
        self.kind = {node["name"]: node["kind"] for node in document["nodes"]}
        self.node_room = {}
        for node in document["nodes"]:
            if node["kind"] == "switch":
                self.node_room[node["name"]] = bps(node.get("aggregation_capacity") or "0 bps")
            elif node["kind"] == "server" and node.get("ingress_capacity") is not None:
                self.node_room[node["name"]] = bps(node["ingress_capacity"])
        self.link_room = {}
        for link in document["links"]:
            a, b = link["ends"]
            self.link_room[a, b] = self.link_room[b, a] = bps(link["rate"])
        for other in document.get("background") or []:
            if other.get("link"):
                self.link_room[tuple(other["link"])] -= bps(other["rate"])
            elif other["node"] in self.node_room:
                self.node_room[other["node"]] -= bps(other["rate"])
        self.link_room = {arc: room for arc, room in self.link_room.items() if room > 0}
        self.into = defaultdict(list)
        self.out = defaultdict(list)
        for a, b in self.link_room:
            self.out[a].append(b)
            self.into[b].append(a)
        self.towards = {}

    def hops(self, to):
        """Hops from every node to one."""
        if to not in self.towards:
            hops = {to: 0}
            queue = deque([to])
            while queue:
                node = queue.popleft()
                if node != to and self.kind[node] != "switch":
                    continue
                for before in self.into[node]:
                    if before not in hops:
                        hops[before] = hops[node] + 1
                        queue.append(before)
            self.towards[to] = hops
        return self.towards[to]

    def paths(self, start, to):
        """All shortest paths, each as a tuple of arcs."""
        hops = self.hops(to)
        if start not in hops:
            return []
        done, unfinished = [], [(start, ())]
        while unfinished:
            node, path = unfinished.pop()
            if node == to:
                done.append(path)
                continue
            for ahead in self.out[node]:
                if hops.get(ahead, -1) == hops[node] - 1 and (ahead == to or self.kind[ahead] == "switch"):
                    unfinished.append((ahead, path + ((node, ahead),)))
        return done


def build(network, workers, servers, equal, paths):
    """Eq. (5) in Mbit/s."""
    switches = [v for v, kind in network.kind.items() if kind == "switch" and network.node_room[v] > 0]
    m = pyo.ConcreteModel()
    m.F = pyo.Var(servers, within=pyo.NonNegativeReals)
    m.y = pyo.Var(servers, workers, within=pyo.NonNegativeReals)
    m.y_v = pyo.Var(servers, switches, workers, within=pyo.NonNegativeReals)
    m.z = pyo.Var(servers, switches, within=pyo.NonNegativeReals)
    index = range
    m.q_sw = pyo.Var(
        [(s, w, p) for s in servers for w in workers for p in index(len(paths[w, s]))], within=pyo.NonNegativeReals
    )
    m.q_svw = pyo.Var(
        [(s, v, w, p) for s in servers for v in switches for w in workers for p in index(len(paths[w, v]))],
        within=pyo.NonNegativeReals,
    )
    m.q_sv = pyo.Var(
        [(s, v, p) for s in servers for v in switches for p in index(len(paths[v, s]))], within=pyo.NonNegativeReals
    )
    m.f = pyo.Objective(expr=pyo.quicksum(m.F[s] for s in servers), sense=pyo.maximize)
    if equal:
        m.shares = pyo.Constraint(servers[1:], rule=lambda m, s: m.F[s] == m.F[servers[0]])
    m.once = pyo.Constraint(
        servers, workers, rule=lambda m, s, w: m.y[s, w] + pyo.quicksum(m.y_v[s, v, w] for v in switches) == m.F[s]
    )
    m.used = pyo.Constraint(servers, switches, workers, rule=lambda m, s, v, w: m.y_v[s, v, w] <= m.z[s, v])
    m.route_sw = pyo.Constraint(
        servers,
        workers,
        rule=lambda m, s, w: pyo.quicksum(m.q_sw[s, w, p] for p in index(len(paths[w, s]))) == m.y[s, w],
    )
    m.route_svw = pyo.Constraint(
        servers,
        switches,
        workers,
        rule=lambda m, s, v, w: pyo.quicksum(m.q_svw[s, v, w, p] for p in index(len(paths[w, v]))) == m.y_v[s, v, w],
    )
    m.route_sv = pyo.Constraint(
        servers,
        switches,
        rule=lambda m, s, v: pyo.quicksum(m.q_sv[s, v, p] for p in index(len(paths[v, s]))) == m.z[s, v],
    )
    m.switch = pyo.Constraint(
        switches,
        rule=lambda m, v: pyo.quicksum(m.y_v[s, v, w] for s in servers for w in workers) <= network.node_room[v] / 1e6,
    )
    m.server = pyo.Constraint(
        [s for s in servers if s in network.node_room],
        rule=lambda m, s: pyo.quicksum(m.y[s, w] for w in workers) + pyo.quicksum(m.z[s, v] for v in switches)
        <= network.node_room[s] / 1e6,
    )
    on = defaultdict(list)
    for s in servers:
        for w in workers:
            for p, path in enumerate(paths[w, s]):
                for arc in path:
                    on[arc].append(m.q_sw[s, w, p])
        for v in switches:
            for w in workers:
                for p, path in enumerate(paths[w, v]):
                    for arc in path:
                        on[arc].append(m.q_svw[s, v, w, p])
            for p, path in enumerate(paths[v, s]):
                for arc in path:
                    on[arc].append(m.q_sv[s, v, p])
    m.link = pyo.Constraint(
        list(on), rule=lambda m, a, b: pyo.quicksum(on[a, b]) <= network.link_room[a, b] / 1e6
    )
    return m


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("topology")
    parser.add_argument("--shares", choices=["free", "equal"], default="free")
    parser.add_argument("--method", choices=["choose", "ipm"], default="choose")
    arguments = parser.parse_args()
    with open(arguments.topology) as file:
        document = json.load(file)
    network = Network(document)
    job = (document.get("jobs") or [{}])[0]
    of_kind = lambda kind: [name for name, found in network.kind.items() if found == kind]
    workers, servers = job.get("workers") or of_kind("worker"), job.get("servers") or of_kind("server")

    start = time.process_time()
    switches = [v for v in of_kind("switch") if network.node_room[v] > 0]
    pairs = [(w, s) for w in workers for s in servers] + [(w, v) for w in workers for v in switches]
    paths = {(a, b): network.paths(a, b) for a, b in pairs + [(v, s) for v in switches for s in servers]}
    enumerated = time.process_time()
    model = build(network, workers, servers, arguments.shares == "equal", paths)
    built = time.process_time()
    solver = pyo.SolverFactory("appsi_highs")
    solver.highs_options = {"threads": 1, "parallel": "off", "solver": arguments.method}
    if arguments.method == "ipm":
        # The fastest options for this program: only the objective is needed, so computing a vertex would waste time,
        # and presolve
        # costs more than it saves (and without crossover HiGHS does not trust its restored solution).
        solver.highs_options.update(run_crossover="off", presolve="off")
    result = solver.solve(model)
    solved = time.process_time()
    pyo.assert_optimal_termination(result)
    print(
        json.dumps(
            {
                "objective_bps": pyo.value(model.f) * 1e6,
                "columns": sum(len(variables) for variables in model.component_objects(pyo.Var)),
                "rows": sum(len(rows) for rows in model.component_objects(pyo.Constraint)),
                "paths_s": enumerated - start,
                "build_s": built - enumerated,
                "solve_s": solved - built,
            }
        )
    )


main()
