import Canvas
import JSONBytes
import Testing

@Suite struct MotionJSONTests {
    private static let everyEasing: [(Easing, String)] = [
        (.linear, #""linear""#), (.ease, #""ease""#), (.easeIn, #""ease-in""#), (.easeOut, #""ease-out""#),
        (.easeInOut, #""ease-in-out""#),
        (.bezier(x1: 0, y1: -10, x2: 1, y2: 10), #"{"bezier":[0,-10,1,10]}"#),
        (.steps(count: 1000, jump: .end), #"{"steps":1000,"jump":"end"}"#),
        (.steps(count: 2, jump: .none), #"{"steps":2,"jump":"none"}"#),
        (
            .points([.init(input: 0, output: 0.5), .init(input: 0, output: -10), .init(input: 1, output: 10)]),
            #"{"points":[[0,0.5],[0,-10],[1,10]]}"#
        ),
    ]

    @Test func aMotionIsReadAsItIsWritten() throws {
        var motion = Motion()
        motion[.rotation] = Track(
            startedAt: 1_700_000_000_000.5,
            segments: [
                Segment(from: 0, to: 720, ms: 100.25, curve: .decay(Decay(rate: 0.998))),
                Segment(
                    from: 720, to: 0, ms: 300,
                    curve: .spring(Spring(response: 0.5, damping: 0.825, velocity: -100))),
            ])
        motion[.positionX] = Track(
            startedAt: 1, segments: [Segment(from: 1, to: 2, ms: 3, curve: .easing(.easeInOut))])
        let written = text { motion.encode(into: &$0) }
        #expect(
            written
                == #"{"positionX":{"startedAt":1,"segments":[{"from":1,"to":2,"ms":3,"curve":"ease-in-out"}]},"#
                + #""rotation":{"startedAt":1700000000000.5,"segments":["#
                + #"{"from":0,"to":720,"ms":100.25,"curve":{"decay":{"rate":0.998}}},"#
                + #"{"from":720,"to":0,"ms":300,"curve":{"spring":{"response":0.5,"damping":0.825,"velocity":-100}}}]}}"#
        )
        #expect(Motion(json: try json(written)) == motion)
        #expect(motion.fields == [.positionX, .rotation])
        #expect(Motion(json: try json("{}")) == Motion())
    }

    @Test(arguments: [
        "[]", #"{"locked":{"startedAt":1,"segments":[{"from":1,"to":2,"ms":3,"curve":"linear"}]}}"#,
        #"{"rotation":{"segments":[{"from":1,"to":2,"ms":3,"curve":"linear"}]}}"#,
        #"{"rotation":{"startedAt":1,"segments":[]}}"#,
        #"{"rotation":{"startedAt":1,"segments":[{"from":1,"to":2,"ms":0,"curve":"linear"}]}}"#,
        #"{"rotation":{"startedAt":1,"segments":[{"from":1,"to":2,"ms":3,"curve":"round"}]}}"#,
        #"{"rotation":{"startedAt":1,"segments":[{"from":1,"to":2,"ms":3,"curve":{"decay":{"rate":1}}}]}}"#,
        #"{"rotation":{"startedAt":1,"segments":[{"from":1,"to":2,"ms":3,"curve":{"spring":{"response":0}}}]}}"#,
    ])
    func otherTextIsNoMotion(text: String) throws {
        #expect(Motion(json: try json(text)) == nil)
    }

    @Test func anAnimationIsStoredWithItsDefaults() throws {
        let sent = try json(#"{"ms":500,"tracks":{"rotation":[{"at":1,"value":360}]},"startedAt":7,"other":1}"#)
        var animation = try KeyframeAnimation(sent, path: "animation")
        #expect(animation.startedAt == 0)
        animation.startedAt = 5
        let written = text { animation.encode(into: &$0) }
        #expect(
            written
                == #"{"ms":500,"iterations":1,"direction":"normal","delayMs":0,"composite":"replace","#
                + #""tracks":{"rotation":[{"at":1,"value":360,"curve":"linear"}]},"startedAt":5}"#)
        #expect(KeyframeAnimation(json: try json(written)) == animation)
        #expect(KeyframeAnimation(json: sent)?.startedAt == 7)
        #expect(KeyframeAnimation(json: try json(#"{"ms":500,"tracks":{"rotation":[{"at":1,"value":360}]}}"#)) == nil)
    }

    @Test func everyPartOfAnAnimationIsReadAsItIsWritten() throws {
        for direction in KeyframeAnimation.Direction.allCases {
            for composite in KeyframeAnimation.Composite.allCases {
                var animation = KeyframeAnimation(ms: 16)
                (animation.direction, animation.composite) = (direction, composite)
                animation.iterations = composite == .add ? .infinity : 2.5
                // Of a group with a stagger it is longer than an app may ask for.
                (animation.delayMs, animation.startedAt) = (8_600_000, 1_700_000_000_000)
                for field in [ElementField.opacity, .positionX, .scaleY] {
                    animation.tracks[field] = Self.everyEasing.map { .init(at: 0.5, value: -1e9, curve: $0.0) }
                }
                #expect(KeyframeAnimation(json: try json(text { animation.encode(into: &$0) })) == animation)
            }
        }
    }

    @Test func everyCurveIsReadAndWritten() throws {
        for (easing, written) in Self.everyEasing {
            let sent = try json("{\"ms\":16,\"tracks\":{\"rotation\":[{\"at\":0,\"value\":1,\"curve\":\(written)}]}}")
            let animation = try KeyframeAnimation(sent, path: "")
            #expect(animation.tracks[.rotation]?.first?.curve == easing)
            #expect(text { animation.encode(into: &$0) }.contains("\"curve\":\(written)}"))
            guard case .points = easing else {
                #expect(try Easing(ofMotion: try json(written), path: "") == easing)
                continue
            }
            #expect(
                refusedField { try Easing(ofMotion: json(written), path: "motion.curve") } == "motion.curve.points")
        }
        #expect(try Easing(ofMotion: try json(#"{"steps":3}"#), path: "") == .steps(count: 3, jump: .end))
    }

    @Test(arguments: [
        (#"7"#, ""), (#""quick""#, ""), (#"{}"#, ""), (#"{"spring":{"response":1}}"#, ""),
        (#"{"decay":{"rate":0.99}}"#, ""),
        (#"{"bezier":[0,0,1]}"#, ".bezier"), (#"{"bezier":7}"#, ".bezier"), (#"{"bezier":[0,0,1.1,0]}"#, ".bezier[2]"),
        (#"{"bezier":[-0.1,0,1,0]}"#, ".bezier[0]"), (#"{"bezier":[0,0,1,10.1]}"#, ".bezier[3]"),
        (#"{"bezier":[0,"0",1,1]}"#, ".bezier[1]"),
        (#"{"steps":0}"#, ".steps"), (#"{"steps":1001}"#, ".steps"), (#"{"steps":1.5}"#, ".steps"),
        (#"{"steps":1,"jump":"none"}"#, ".steps"), (#"{"steps":2,"jump":"up"}"#, ".jump"),
        (#"{"points":[[0,1]]}"#, ".points"), (#"{"points":7}"#, ".points"), (#"{"points":[[0,1],7]}"#, ".points[1]"),
        (#"{"points":[[0,1],[1,2,3]]}"#, ".points[1]"), (#"{"points":[[0.1,1],[1,1]]}"#, ".points[0][0]"),
        (#"{"points":[[0,1],[0.9,1]]}"#, ".points[1][0]"), (#"{"points":[[0,1],[1,11]]}"#, ".points[1][1]"),
        (#"{"points":[[0,1],[0.5,1],[0.4,1],[1,1]]}"#, ".points[2][0]"),
    ])
    func aWrongCurveIsRefusedByItsField(curve: String, field: String) {
        let refused = refusedField {
            let text = #"{"ms":16,"tracks":{"opacity":[{"at":0,"value":1},{"at":0,"value":1,"curve":\#(curve)}]}}"#
            return try KeyframeAnimation(json(text), path: "animation")
        }
        #expect(refused == "animation.tracks.opacity[1].curve" + field)
    }

    @Test func thereAreAtMostThirtyTwoPointsAndSixtyFourKeyframes() throws {
        func animation(points: Int, keyframes: Int) throws -> KeyframeAnimation {
            let points = (0..<points).map { $0 + 1 == points ? "[1,0]" : "[0,1]" }.joined(separator: ",")
            let keyframe = #"{"at":0.5,"value":1,"curve":{"points":[\#(points)]}}"#
            let all = Array(repeating: keyframe, count: keyframes).joined(separator: ",")
            return try KeyframeAnimation(json(#"{"ms":16,"tracks":{"scaleX":[\#(all)]}}"#), path: "")
        }
        #expect(try animation(points: 2, keyframes: 64).tracks[.scaleX]?.count == 64)
        #expect(try animation(points: 32, keyframes: 24).tracks[.scaleX]?.count == 24)
        #expect(refusedField { try animation(points: 33, keyframes: 1) } == "tracks.scaleX[0].curve.points")
        #expect(refusedField { try animation(points: 2, keyframes: 65) } == "tracks.scaleX")
    }

    @Test(arguments: [
        (#""ms":15"#, "ms"), (#""ms":3600001"#, "ms"), (#""iterations":0.9"#, "iterations"),
        (#""iterations":1000001"#, "iterations"), (#""iterations":"many""#, "iterations"),
        (#""direction":"up""#, "direction"), (#""direction":1"#, "direction"),
        (#""composite":"accumulate""#, "composite"),
        (#""delayMs":-1"#, "delayMs"), (#""delayMs":3600001"#, "delayMs"), (#""delayMs":null"#, "delayMs"),
        (#""tracks":null"#, "tracks"), (#""tracks":{}"#, "tracks"), (#""tracks":[]"#, "tracks"),
        (#""tracks":{"zIndex":[{"at":0,"value":1}]}"#, "tracks.zIndex"),
        (#""tracks":{"colour":[{"at":0,"value":1}]}"#, "tracks.colour"),
        (#""tracks":{"width":[{"at":0,"value":1}]}"#, "tracks.width"),
        (#""tracks":{"rotation":[]}"#, "tracks.rotation"), (#""tracks":{"rotation":{}}"#, "tracks.rotation"),
        (#""tracks":{"rotation":[7]}"#, "tracks.rotation[0]"),
        (#""tracks":{"rotation":[{"at":1.1,"value":1}]}"#, "tracks.rotation[0].at"),
        (#""tracks":{"rotation":[{"value":1}]}"#, "tracks.rotation[0].at"),
        (
            #""tracks":{"rotation":[{"at":0.5,"value":1},{"at":0.5,"value":1},{"at":0.4,"value":1}]}"#,
            "tracks.rotation[2].at"
        ),
        (#""tracks":{"rotation":[{"at":0}]}"#, "tracks.rotation[0].value"),
        (#""tracks":{"rotation":[{"at":0,"value":1000000001}]}"#, "tracks.rotation[0].value"),
    ])
    func aWrongAnimationIsRefusedByItsField(member: String, field: String) {
        let others = [#""ms":16"#, #""tracks":{"rotation":[{"at":0,"value":1}]}"#]
        let name = member.prefix { $0 != ":" }
        let members = [member] + others.filter { !$0.hasPrefix(name) }
        let refused = refusedField {
            try KeyframeAnimation(json("{\(members.joined(separator: ","))}"), path: "animation")
        }
        #expect(refused == "animation." + field)
    }

    @Test func theLimitsThemselvesAreAccepted() throws {
        let least = #"{"ms":16,"iterations":1,"delayMs":0,"tracks":{"positionX":[{"at":0,"value":-1e9}]}}"#
        let most = #"{"ms":3.6e6,"iterations":1e6,"delayMs":3.6e6,"tracks":{"positionX":[{"at":1,"value":1e9}]}}"#
        #expect(try KeyframeAnimation(json(least), path: "").iterations == 1)
        #expect(try KeyframeAnimation(json(most), path: "").delayMs == 3_600_000)
        #expect(refusedField { try KeyframeAnimation(json("[]"), path: "animation") } == "animation")
        #expect(
            refusedField { try KeyframeAnimation(json(#"{"tracks":{}}"#), path: "animation") } == "animation.ms")
    }
}
