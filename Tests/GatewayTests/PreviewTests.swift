import Canvas
import Testing
import Timing
import Wire

@testable import GatewayCore

@Suite("Previews and gestures")
struct PreviewTests {
    static func preview(_ rotation: Int, gesture: Int? = nil) -> String {
        let stamp = gesture.map { #","gesture":\#($0)"# } ?? ""
        return #"{"roomId":"r","elementId":"e","transform":{"rotation":\#(rotation)}\#(stamp)}"#
    }

    @Test("a commit ends the gesture of the previews before it; later ones open the next")
    func gestures() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transforming", Self.preview(1))
        scene.send(ada, "element:transforming", Self.preview(2))
        scene.send(ada, "element:transform", CommitTests.transform, ack: 1)
        let first = scene.take()
        #expect(first.previews.map(\.gesture) == [1, 1])
        let commit = try #require(first.commits.first)
        #expect(commit.gestures == [EndedGesture(element: "e", gesture: 1)])
        scene.gateway.resultReceived(result(of: commit, seq: 9), at: scene.moment, into: &scene.actions)
        scene.send(ada, "element:transforming", Self.preview(3))
        let second = try #require(scene.take().previews.first)
        #expect(second.gesture == 2)
        #expect(second.after == 9)
    }

    @Test func aPreviewBehindACommitWithoutAResultWaitsFoldedAndFollowsIt() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transform", CommitTests.transform, ack: 1)
        let commit = try #require(scene.take().commits.first)
        scene.send(ada, "element:transforming", Self.preview(3))
        scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e","positionX":5,"transform":{}}"#)
        scene.advance(16)
        #expect(scene.take().previews.isEmpty)
        scene.gateway.resultReceived(result(of: commit, seq: 9), at: scene.moment, into: &scene.actions)
        scene.advance(16)
        let preview = try #require(scene.take().previews.first)
        #expect(preview.after == 9)
        #expect(preview.folded == 2)
        #expect(preview.fields.rotation == 3)
        #expect(preview.fields.positionX == 5)
    }

    private static let group = #"{"roomId":"r","elements":["a","b"],"pivot":{"x":0,"y":0},"rotation":5}"#

    @Test func deltasAreSentOnAsTheyCame() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:gesturing", #"{"roomId":"r","elementId":"e","rotation":5,"scale":2}"#)
        let preview = try #require(scene.take().previews.first)
        #expect(preview.fields.isEmpty && preview.group == .alone && preview.gesture == 1)
        #expect(preview.delta?.fields.rotation == 5 && preview.delta?.fields.scale == Point(x: 2, y: 2))
        scene.send(ada, "element:gesture", #"{"roomId":"r","elementId":"e","rotation":5}"#, ack: 1)
        #expect(scene.take().commits.first?.gestures == [EndedGesture(element: "e", gesture: 1)])
    }

    @Test func aGroupHasOneGestureAndItsCommitEndsIt() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for _ in 0..<2 { scene.send(ada, "elements:gesturing", Self.group) }
        let previews = scene.take().previews
        #expect(previews.map(\.element) == ["a", "b", "a", "b"])
        #expect(previews.map(\.group) == [.member, .last, .member, .last])
        #expect(previews.allSatisfy { $0.gesture == 1 && $0.delta?.pivot == .zero })
        scene.send(ada, "elements:gesture", Self.group, ack: 1)
        let ended = ["a", "b"].map { EndedGesture(element: $0, gesture: 1) }
        #expect(scene.take().commits.first?.gestures == ShortList(ended))
        scene.send(ada, "elements:gesturing", Self.group)
        #expect(scene.take().previews.isEmpty)
    }

    @Test func aGroupCountsAsOneMessageAgainstTheRate() throws {
        var limits = GatewayLimits()
        limits.previewsPerSecond = 10
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for _ in 0..<20 { scene.send(ada, "elements:gesturing", Self.group) }
        #expect(scene.take().previews.count == 20)
        scene.advance(150)
        let last = scene.take().previews
        #expect(Set(last.map(\.element)) == ["a", "b"] && last.allSatisfy { $0.folded == 10 })
    }

    @Test func badGroupsAreRefusedWithTheirField() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let bad = [
            (#"{"roomId":"r","elements":["a","a"],"pivot":{"x":0,"y":0},"rotation":5}"#, "elements[1]"),
            (#"{"roomId":"r","elements":["a"],"rotation":5}"#, "pivot"),
        ]
        for (payload, field) in bad {
            scene.send(ada, "elements:gesturing", payload)
            #expect(scene.take().texts(for: ada).first?.contains(#""field":"\#(field)""#) == true)
            scene.advance(1100)
        }
    }

    @Test func aGroupIsShownInOneMessageAndToAppsOf1_0OneByOne() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let old = try scene.member("old", isV1: true)
        // A slow queue has folded one more of b's.
        var previews = [("a", 2), ("b", 3)].map { element, folded in
            Preview(
                room: "r", element: element, connection: 77, user: "bob", sid: "s-bob", gesture: 4, after: 3,
                folded: folded, sinceLast: 8 * folded, fields: TransformFields(positionX: 1, rotation: 5),
                group: .member)
        }
        previews.append(
            Preview(
                room: "r", element: "c", connection: 77, user: "bob", sid: "s-bob", gesture: 5,
                fields: TransformFields(rotation: 9)))
        _ = scene.take()
        scene.gateway.relay.previewsReceived(previews, at: scene.moment, lateness: .zero, into: &scene.actions)
        let shown = scene.take()
        #expect(
            shown.texts(for: ada) == [
                #"["elements:transforming",{"roomId":"r","elements":[{"elementId":"a","transform":{"rotation":5},"positionX":1,"after":3},{"elementId":"b","transform":{"rotation":5},"positionX":1,"after":3}],"userId":"bob","sid":"s-bob","gesture":4,"n":3,"dt":24}]"#,
                #"["element:transforming",{"roomId":"r","elementId":"c","userId":"bob","sid":"s-bob","transform":{"rotation":9},"gesture":5,"after":0,"n":1,"dt":0}]"#,
            ])
        #expect(shown.texts(for: old).count == 3)
        #expect(shown.texts(for: old).allSatisfy { $0.hasPrefix(#"["element:transforming","#) })
    }

    @Test func overTheRatePreviewsAreFoldedAndTheLastOneArrives() throws {
        var limits = GatewayLimits()
        limits.previewsPerSecond = 10
        var scene = Scene(limits: limits)
        let ada = try scene.member("ada")
        for rotation in 0..<30 { scene.send(ada, "element:transforming", Self.preview(rotation)) }
        #expect(scene.take().previews.count == 10)
        scene.advance(200)
        let last = scene.take().previews
        #expect(last.map(\.fields.rotation) == [29])
        #expect(last.map(\.folded) == [20])
    }

    @Test("a gesture of the app's own number is kept, and the gateway goes on above it")
    func explicit() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transforming", Self.preview(1, gesture: 41))
        scene.send(ada, "element:transform", CommitTests.transform, ack: 1)
        let actions = scene.take()
        #expect(actions.previews.map(\.gesture) == [41])
        let commit = try #require(actions.commits.first)
        #expect(commit.gestures == [EndedGesture(element: "e", gesture: 41)])
        scene.gateway.resultReceived(result(of: commit, seq: 1), at: scene.moment, into: &scene.actions)
        scene.send(ada, "element:transforming", Self.preview(2))
        #expect(scene.take().previews.map(\.gesture) == [42])
    }

    /// The app may give the next number to its next gesture, which others must see.
    @Test func aCommitWithoutAGestureEndsNone() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for gesture in 1...3 {
            scene.send(ada, "element:transforming", Self.preview(gesture, gesture: gesture))
            for n in [2 * gesture - 1, 2 * gesture] {
                scene.send(ada, "element:transform", #"{"roomId":"r","elementId":"e","positionX":1,"n":\#(n)}"#)
            }
            let actions = scene.take()
            #expect(actions.previews.map(\.gesture) == [UInt64(gesture)])
            #expect(
                actions.commits.map(\.gestures)
                    == [UInt64(gesture), 0].map { [EndedGesture(element: "e", gesture: $0)] })
            let second = try #require(actions.commits.last)
            scene.gateway.resultReceived(
                result(of: second, refusal: Refusal(.gone, "deleted")), at: scene.moment, into: &scene.actions)
            #expect(scene.take().gestureEnds.isEmpty)
            scene.gateway.resultReceived(
                result(of: actions.commits[0], seq: 9), at: scene.moment, into: &scene.actions)
        }
    }

    @Test func aGestureWhoseCommitWasFinallyRefusedEnds() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transforming", Self.preview(1))
        scene.send(ada, "element:transform", CommitTests.transform, ack: 1)
        let commit = try #require(scene.take().commits.first)
        scene.gateway.resultReceived(
            result(of: commit, refusal: Refusal(.gone, "deleted")), at: scene.moment, into: &scene.actions)
        #expect(scene.take().gestureEnds.map(\.gesture) == [1])
    }

    @Test func leavingEndsAGestureAtOnceVanishingAfter2S() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        let bob = try scene.member("bob")
        scene.send(ada, "element:transforming", Self.preview(1))
        scene.send(bob, "element:transforming", Self.preview(1))
        scene.send(ada, "room:leave", #"{"roomId":"r"}"#)
        #expect(scene.take().gestureEnds.map(\.user) == ["ada"])
        scene.gateway.disconnected(bob, at: scene.moment, into: &scene.actions)
        #expect(scene.take().gestureEnds.isEmpty)
        scene.advance(2_000)
        #expect(scene.take().gestureEnds.map(\.user) == ["bob"])
    }

    /// Each end goes to everybody in the room.
    @Test func whoLeavesManyGesturesBehindAgainAndAgainWaitsToJoin() throws {
        var scene = Scene()
        let ids = (0..<500).map { "\"e\($0)\"" }.joined(separator: ",")
        var ends = 0
        var joins = 0
        for _ in 0..<20 {
            let ada = try scene.connect("ada")
            scene.send(ada, "room:join", #"{"roomId":"r"}"#, ack: 1)
            if scene.actions.joins.isEmpty {
                #expect(scene.take().texts(for: ada)[0].contains(#""code":"rate_limited""#))
                continue
            }
            joins += 1
            scene.answerJoins(sid: "s-ada")
            scene.send(
                ada, "elements:gesturing",
                #"{"roomId":"r","elements":[\#(ids)],"pivot":{"x":0,"y":0},"rotation":5}"#)
            _ = scene.take()
            scene.send(ada, "room:leave", #"{"roomId":"r"}"#)
            ends += scene.take().gestureEnds.count
        }
        #expect(joins > 2 && joins < 15 && ends == joins * 500)
        scene.now += 30_000
        let bob = try scene.connect("ada")
        scene.send(bob, "room:join", #"{"roomId":"r"}"#, ack: 1)
        #expect(scene.actions.joins.count == 1)
    }

    @Test func aPreviewAtFaultIsToldAtMostOnceASecond() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        for _ in 0..<5 {
            scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e","transform":{"rotation":null}}"#)
        }
        #expect(scene.take().texts(for: ada).count == 1)
        scene.advance(1_000)
        scene.send(ada, "element:transforming", #"{"roomId":"r","elementId":"e","transform":{"rotation":null}}"#)
        #expect(scene.take().texts(for: ada).count == 1)
    }
}

@Suite struct CompletePreviewTests {
    private static func preview(_ members: String) -> String { #"{"roomId":"r","elementId":"e",\#(members)}"# }

    /// What others get of previews that are sent one after the other.
    private func shown(_ event: String = "element:transforming", _ previews: String...) throws -> [Preview] {
        var scene = Scene()
        let ada = try scene.member("ada")
        return previews.flatMap { preview in
            scene.send(ada, event, Self.preview(preview))
            return scene.take().previews
        }
    }

    @Test func aPreviewShowsAllThatItsGestureHasMoved() throws {
        let previews = try self.shown(
            "element:transforming", #""positionX":1,"positionY":2"#, #""transform":{"rotation":3}"#, #""positionX":4"#)
        #expect(
            previews.map(\.fields) == [
                TransformFields(positionX: 1, positionY: 2), TransformFields(positionX: 1, positionY: 2, rotation: 3),
                TransformFields(positionX: 4, positionY: 2, rotation: 3),
            ])
    }

    @Test func aGestureShowsNothingOfTheOneBefore() throws {
        let previews = try self.shown(
            "element:transforming", #""positionX":1,"gesture":1"#, #""positionY":2,"gesture":2"#)
        #expect(previews.map(\.fields) == [TransformFields(positionX: 1), TransformFields(positionY: 2)])
    }

    @Test func afterACommitTheNextGestureBeginsWithNothing() throws {
        var scene = Scene()
        let ada = try scene.member("ada")
        scene.send(ada, "element:transforming", Self.preview(#""positionX":1"#))
        scene.send(ada, "element:transform", Self.preview(#""positionX":1,"n":1"#))
        let commit = try #require(scene.take().commits.first)
        scene.gateway.resultReceived(result(of: commit, seq: 1), at: scene.moment, into: &scene.actions)
        scene.send(ada, "element:transforming", Self.preview(#""positionY":2"#))
        #expect(scene.take().previews.map(\.fields) == [TransformFields(positionY: 2)])
    }

    @Test func deltasMergeByField() throws {
        let previews = try self.shown(
            "element:gesturing", #""translation":{"x":1,"y":0},"rotation":5"#, #""translation":{"x":2,"y":0}"#)
        let last = try #require(previews.last?.delta?.fields)
        #expect(last.translation == Point(x: 2, y: 0) && last.rotation == 5)
    }

    @Test func valuesEndDeltasAndDeltasValues() {
        var fields = GestureFields()
        fields.rotation = 5
        let delta = GestureProgress(fields: TransformFields(), delta: PreviewDelta(fields))
        var progress = GestureProgress(fields: TransformFields(positionX: 1, positionY: 2))
        progress.add(delta)
        #expect(progress.fields.isEmpty && progress.delta?.fields.rotation == 5)
        progress.add(GestureProgress(fields: TransformFields(positionY: 3)))
        #expect(progress.delta == nil && progress.fields == TransformFields(positionY: 3))
    }
}
