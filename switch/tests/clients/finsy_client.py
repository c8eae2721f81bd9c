"""finsy inserts, reads, modifies and deletes entries of our tables. Arguments: address, device, P4Info, JSON."""

import asyncio
import sys
from pathlib import Path

import finsy as fy

address, device, p4info, device_config = sys.argv[1:]

STEER = {
    "epoch": 1,
    "job": 2,
    "shard": 3,
    "worker": 4,
    "ingress": 5,
}


async def read(switch, entity):
    return [found async for found in switch.read(entity)]


async def main():
    options = fy.SwitchOptions(
        p4info=Path(p4info), p4blob=Path(device_config), device_id=int(device), initial_election_id=30, fail_fast=True
    )
    async with fy.Switch("ours", address, options) as switch:
        # finsy pushes its pipeline where the device's differs, and reads the rest.
        forward = fy.P4TableEntry("steer", match=fy.Match(STEER), action=fy.Action("forward", port=6, members=0x10))
        await switch.insert([forward])
        (found,) = await read(switch, fy.P4TableEntry("steer"))
        assert sorted(found.match.values()) == [1, 2, 3, 4, 5], found
        assert found.action.name == "forward" and found.action.args == {"port": 6, "members": 0x10}, found

        try:
            await switch.insert([forward])
            raise AssertionError("a second insertion must fail")
        except fy.P4ClientError as error:
            assert error.details[0].canonical_code == fy.GRPCStatusCode.ALREADY_EXISTS, error

        add = fy.P4TableEntry(
            "steer",
            match=fy.Match(STEER),
            action=fy.Action("add", port=7, base=64, mask=63, members=0xFF, expected=0xFF),
        )
        await switch.modify([add])
        (found,) = await read(switch, fy.P4TableEntry("steer"))
        expected = {"port": 7, "base": 64, "mask": 63, "members": 0xFF, "expected": 0xFF}
        assert found.action.name == "add" and found.action.args == expected, found

        mac = fy.P4TableEntry(
            "mac", match=fy.Match({"dst": "02:00:00:00:00:01"}), action=fy.Action("send", port=1)
        )
        results = fy.P4TableEntry(
            "results",
            match=fy.Match({key: value for key, value in STEER.items() if key != "worker"}),
            action=fy.Action("replicate", group=9),
        )
        group = fy.P4MulticastGroupEntry(9, replicas=[1, 2])
        default = fy.P4TableEntry("mac", is_default_action=True, action=fy.Action("flood", group=9))
        await switch.write([+mac, +results, +group, ~default])
        assert len(await read(switch, fy.P4TableEntry())) == 3
        assert [found.multicast_group_id for found in await read(switch, fy.P4MulticastGroupEntry())] == [9]
        (found,) = await read(switch, fy.P4DirectCounterEntry("steer_counter"))
        assert found.packet_count == 0, found
        assert await read(switch, fy.P4CounterEntry("drops"))

        await switch.delete_all()
        assert not await read(switch, fy.P4TableEntry())
        assert not await read(switch, fy.P4MulticastGroupEntry())
    print("finsy is content")


asyncio.run(main())
