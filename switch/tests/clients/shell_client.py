"""p4runtime-shell inserts, reads, modifies and deletes entries of our tables. Arguments: address, device, P4Info, JSON."""

import sys

import p4runtime_sh.shell as sh
from p4runtime_sh.p4runtime import P4RuntimeWriteException

address, device, p4info, device_config = sys.argv[1:]
sh.setup(
    device_id=int(device),
    grpc_addr=address,
    election_id=(0, 20),
    config=sh.FwdPipeConfig(p4info, device_config),
    verbose=False,
)


def steer(action):
    entry = sh.TableEntry("steer")(action=action)
    entry.match["epoch"] = "1"
    entry.match["job"] = "2"
    entry.match["shard"] = "3"
    entry.match["worker"] = "4"
    entry.match["ingress"] = "5"
    return entry


def values(entry):
    """An entry's numbers: the shell pads byte strings, the switch answers with the shortest ones."""
    message = entry.msg()
    number = lambda value: int.from_bytes(value, "big")
    key = {match.field_id: number(match.exact.value) for match in message.match}
    action = message.action.action
    return key, action.action_id, {param.param_id: number(param.value) for param in action.params}


def read(table):
    found = []
    sh.TableEntry(table).read(found.append)
    return found


def main():
    entry = steer("forward")
    entry.action["port"] = "6"
    entry.action["members"] = "0x10"
    entry.insert()
    (got,) = read("steer")
    assert values(got) == values(entry), f"{got} is not {entry}"

    try:
        entry.insert()
        raise AssertionError("a second insertion must fail")
    except P4RuntimeWriteException as error:
        assert "ALREADY_EXISTS" in str(error), error

    entry = steer("add")
    entry.action["port"] = "7"
    entry.action["base"] = "64"
    entry.action["mask"] = "63"
    entry.action["members"] = "0xff"
    entry.action["expected"] = "0xff"
    entry.modify()
    (got,) = read("steer")
    assert values(got) == values(entry), got

    mac = sh.TableEntry("mac")(action="send")
    mac.match["dst"] = "02:00:00:00:00:01"
    mac.action["port"] = "1"
    mac.insert()
    assert len(read("mac")) == 1

    default = sh.TableEntry("mac")(action="flood")
    default.is_default = True
    default.action["group"] = "1"
    default.modify()

    results = sh.TableEntry("results")(action="replicate")
    results.match["epoch"] = "1"
    results.match["job"] = "2"
    results.match["shard"] = "3"
    results.match["ingress"] = "5"
    results.action["group"] = "9"
    results.insert()
    assert len(read("results")) == 1

    group = sh.MulticastGroupEntry(9)
    group.add(1, 1).add(2, 1)
    group.insert()
    groups = []
    sh.MulticastGroupEntry().read(groups.append)
    assert [one.group_id for one in groups] == [9], groups

    direct = sh.DirectCounterEntry("steer_counter")
    counted = []
    direct.read(counted.append)
    assert len(counted) == 1 and counted[0].packet_count == 0, counted

    cells = []
    sh.CounterEntry("drops").read(cells.append)
    assert cells and all(cell.packet_count == 0 for cell in cells), cells

    for one in (entry, mac, results):
        one.delete()
    group.delete()
    assert not read("steer") and not read("mac") and not read("results")


try:
    main()
    print("p4runtime-shell is content")
finally:
    # Its threads keep the process alive otherwise.
    sh.teardown()
