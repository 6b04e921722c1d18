import Canvas
import JSONBytes
import Testing

@Suite("Elements as JSON")
struct ElementJSONTests {
    @Test func flatInAFixedOrderOptionsOnlyWhenSet() throws {
        let (element, _) = try created("note", #""positionX":3,"width":150,"content":{ "a" : 1.0 },"k\"ey":"\u00e9""#)
        #expect(
            text { element.encode(into: &$0) }
                == #"{"id":"e1","type":"note","positionX":3,"positionY":0,"width":150,"height":100,"rotation":0,"scaleX":1,"scaleY":1,"originalWidth":150,"originalHeight":100,"anchorX":0.5,"anchorY":0.5,"createdBy":"ann","updatedBy":"ann","rev":1,"content":{ "a" : 1.0 },"k\"ey":"\u00e9"}"#
        )
    }

    @Test func options() throws {
        let (element, _) = try created(
            "text",
            #""locked":true,"snapDegrees":45,"bounds":{"x":0,"y":0,"width":1,"height":1},"fontSize":14,"zIndex":-1,"space":"normalized","parentId":"p""#
        )
        let json = text { element.encode(into: &$0) }
        #expect(
            json.hasSuffix(
                #""rev":1,"locked":true,"snapDegrees":45,"bounds":{"x":0,"y":0,"width":1,"height":1},"fontSize":14,"zIndex":-1,"space":"normalized","parentId":"p"}"#
            ))
        let (unlocked, _) = try created("text", #""locked":false,"space":"canvas""#)
        #expect(!text { unlocked.encode(into: &$0) }.contains("locked"))
        #expect(!text { unlocked.encode(into: &$0) }.contains("space"))
    }

    @Test func aBroadcastsOwnMembersStandBesideTheElementsWithoutADuplicateKey() throws {
        let (element, _) = try created(
            "note", #""seq":9,"userId":"x","sid":"s","roomId":"r","n":5,"cause":"fire","part":1,"parts":2,"content":1"#)
        let broadcast = text { writer in
            writer.beginObject()
            element.encodeMembers(into: &writer)
            for name in ["roomId", "seq", "userId", "sid", "n", "cause", "part", "parts"] {
                writer.key(string: name)
                writer.value(1)
            }
            writer.endObject()
        }
        #expect(try json(broadcast)["content"]?.integer == 1)
    }

    @Test func whatIsNoStoredElementIsRefused() throws {
        let (element, _) = try created(
            "note", #""locked":true,"snapDegrees":45,"bounds":{"x":0,"y":0,"width":1,"height":1},"parentId":"p""#)
        let good = text { element.encode(into: &$0) }
        #expect(try Element(json: json(good)) == element)
        for (old, new) in [
            (#""rev":1"#, #""rev":1.5"#), (#""rev":1"#, #""rev":null"#), (#""rotation":0"#, #""rotation":"0""#),
            (#""id":"e1","#, ""), (#""anchorY":0.5,"#, ""),
            (#""locked":true"#, #""locked":1"#), (#""snapDegrees":45"#, #""snapDegrees":"45""#),
            (#""locked":true"#, #""constraints":{"axis":"z"}"#), (#""parentId":"p""#, #""parentId":7"#),
            (#"{"x":0,"#, "{"),
            (#""snapDegrees":45"#, #""space":"moon""#), (#""snapDegrees":45"#, #""zIndex":{}"#),
        ] {
            let bad = good.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false).joined(separator: new)
            #expect(bad != good)
            #expect(try Element(json: json(bad)) == nil, "\(bad)")
        }
        #expect(try Element(json: json("[]")) == nil)
    }

    @Test func equalityIsBytewiseAndSeesEveryField() throws {
        let (element, _) = try created("note", #""snapDegrees":45"#)
        let edits: [(inout Element) -> Void] = [
            { $0.id = "x" }, { $0.type = "x" }, { $0.positionX = 9 }, { $0.positionY = 9 }, { $0.rotation = 9 },
            { $0.positionZ = 9 }, { $0.rotationX = 9 }, { $0.rotationY = 9 }, { $0.perspective = 90 },
            { $0.scaleX = 9 }, { $0.scaleY = 9 }, { $0.opacity = 0.9 },
            { $0.originalWidth = 9 }, { $0.originalHeight = 9 }, { $0.anchorX = 9 }, { $0.anchorY = 9 },
            { $0.createdBy = "x" }, { $0.updatedBy = "x" },
            { $0.rev = 9 }, { $0.locked = true }, { $0.snapDegrees = nil },
            { $0.bounds = Bounds(x: 0, y: 0, width: 0, height: 0) }, { $0.constraints = Constraints() },
            { $0.fontSize = 9 },
            { $0.zIndex = 9 }, { $0.space = .normalized }, { $0.parentId = "x" },
            { $0.motion[.opacity] = Track(startedAt: 1, segments: []) }, { $0.animation = KeyframeAnimation(ms: 16) },
            { $0.extra = [ExtraField(name: "a", json: [0x31])] },
        ]
        // Four of them are kept in one place.
        #expect(edits.count == Mirror(reflecting: element).children.count + 3)
        for edit in edits {
            var other = element
            edit(&other)
            #expect(other != element)
        }
        var (composed, decomposed) = (element, element)
        composed.id = "\u{E9}"
        decomposed.id = "e\u{301}"
        #expect(composed != decomposed)
    }
}
