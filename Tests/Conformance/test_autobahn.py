"""The WebSocket cases of Autobahn, driven by kosoku against the echo at /echo.

Left out: 12 and 13, compression, which the server does not offer.
"""

import asyncio

import kosoku
import pytest

# Chapters and how many cases each has: a chapter that loses cases is noticed.
CHAPTERS = {
    "1": 16,  # messages of all sizes
    "2": 11,  # pings and pongs
    "3": 7,  # reserved bits
    "4": 10,  # opcodes that do not exist
    "5": 20,  # fragments
    "6": 145,  # UTF-8
    "7": 37,  # closing
    "9": 54,  # up to 16 MB in one message
    "10": 1,  # automatic fragments
}


@pytest.fixture(scope="module")
def url(serve):
    return f"ws://127.0.0.1:{serve().port}/echo"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_case_of_the_chapter_passes(url, chapter):
    async def run():
        return await kosoku.run_fuzzingclient(url, [f"{chapter}.*"], concurrency=4)

    try:
        results = asyncio.run(run())
    except kosoku.FailureError as failure:
        results = failure.results
    bad = [(case.case_id, case.behavior.value, case.behavior_close.value, case.result, case.result_close)
           for case in results if not case.passed]
    assert not bad
    assert len(results) == CHAPTERS[chapter]
