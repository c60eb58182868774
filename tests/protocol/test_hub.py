"""The hub against a model of itself: whatever is opened, watched and closed, each event goes where it should."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from notes_mcp.errors import InternalError
from notes_mcp.events import PromptsChanged, ResourcesChanged, ResourceUpdated
from notes_mcp.protocol.subscriptions import Hub

LIMIT = 4
STREAMS, NOTES, SPELLINGS = st.integers(0, 2), st.sampled_from("ab"), st.sampled_from("xyz")
EVENTS = [ResourcesChanged(), PromptsChanged(), *map(ResourceUpdated, "ab")]
STEPS = st.lists(
    st.tuples(st.just("open"), STREAMS, st.integers(0, 2))
    | st.tuples(st.just("watch"), STREAMS, NOTES, SPELLINGS)
    | st.tuples(st.just("unwatch"), STREAMS, SPELLINGS)
    | st.tuples(st.just("follow"), STREAMS, st.sampled_from([ResourcesChanged, PromptsChanged]))
    | st.tuples(st.just("close"), STREAMS)
    | st.tuples(
        st.just("publish"), st.sampled_from([ResourcesChanged(), PromptsChanged(), *map(ResourceUpdated, "ab")])
    ),
    max_size=30,
)


class Model:
    """What one stream should have: the least room it takes, its URIs, the lists it follows, what it should be told."""

    def __init__(self, floor, stream):
        self.floor, self.stream = max(floor, 1), stream
        self.uris, self.lists, self.due = {}, set(), set()

    @property
    def room(self):
        return max(self.floor, len(self.uris))


@settings(max_examples=200, deadline=None)
@given(STEPS)
def test_every_event_reaches_exactly_the_streams_that_asked_and_the_limit_holds(steps):
    asyncio.run(play(steps))


async def play(steps):
    hub, models = Hub(LIMIT), {}
    for step, *details in steps:
        if step == "publish":
            hub.publish(details[0])
            for model in models.values():
                expect(model, details[0])
            continue
        number, *rest = details
        if step == "open" and number not in models:
            open_one(hub, models, number, *rest)
        elif number not in models:
            continue
        elif step == "watch":
            watch(hub, models, models[number], *rest)
        elif step == "unwatch":
            hub.unwatch(models[number].stream, *rest)
            models[number].uris.pop(*rest, None)
        elif step == "follow":
            hub.follow(models[number].stream, *rest)
            models[number].lists.add(*rest)
        elif step == "close":
            await finish(hub, models.pop(number), models.values())
    while models:
        await finish(hub, models.popitem()[1], models.values())
    assert hub.open(notify_none, room=LIMIT)


async def notify_none(method, params):
    raise AssertionError("nothing was asked for")


def open_one(hub, models, number, floor):
    told = []

    async def notify(method, params):
        told.append((method.removeprefix("notifications/"), params.get("uri")))

    fits = sum(model.room for model in models.values()) + max(floor, 1) <= LIMIT
    try:
        stream = hub.open(notify, room=floor)
    except InternalError:
        assert not fits
        return
    assert fits
    models[number] = Model(floor, stream)
    models[number].told = told


def watch(hub, models, model, note, spelling):
    grown = {**model.uris, spelling: note}
    others = sum(each.room for each in models.values() if each is not model)
    fits = others + max(model.floor, len(grown)) <= LIMIT
    try:
        hub.watch(model.stream, note, spelling)
    except InternalError:
        assert not fits
        return
    assert fits
    model.uris = grown


def expect(model, event):
    if isinstance(event, ResourceUpdated):
        model.due |= {("resources/updated", uri) for uri, note in model.uris.items() if note == event.uri}
    elif type(event) in model.lists:
        kind = "resources" if isinstance(event, ResourcesChanged) else "prompts"
        model.due.add((f"{kind}/list_changed", None))


async def finish(hub, model, others):
    hub.close(model.stream)
    for event in EVENTS:
        hub.publish(event)
        for other in others:
            expect(other, event)
    await model.stream.deliver()
    assert len(model.told) == len(set(model.told))
    assert set(model.told) == model.due
