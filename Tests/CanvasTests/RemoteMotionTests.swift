import Canvas
import Testing

@Suite struct RemoteMotionTests {
    private let start = Pose(position: .zero, rotation: Angle(degrees: 350), scaleX: 1, scaleY: 1)
    private let end = Pose(position: Point(x: 100, y: -50), rotation: Angle(degrees: 10), scaleX: 2, scaleY: 3)

    @Test func linearMotionArrivesAfterTheMeasuredInterval() throws {
        var motion = try #require(RemoteMotion(from: self.start, pace: UpdatePace(initial: 100)))
        #expect(motion.isAtRest(at: 0))
        motion.receive(self.end, at: 1000)
        #expect(motion.pose(at: 1000) == self.start)
        let halfway = motion.pose(at: 1050)
        #expect(isClose(halfway.position, Point(x: 50, y: -25)))
        #expect(halfway.rotation.shortestTurn(to: .zero).magnitude < 1e-9)
        #expect((halfway.scaleX, halfway.scaleY) == (1.5, 2))
        #expect(!motion.isAtRest(at: 1099))
        #expect(motion.pose(at: 1100) == self.end)
        #expect(motion.isAtRest(at: 1100))
        #expect(motion.pose(at: 1e300) == self.end)
    }

    @Test func aSpringEndsOnThePoseAndDoesNotOvershoot() throws {
        var motion = try #require(RemoteMotion(from: self.start, style: .spring, pace: UpdatePace(initial: 100)))
        motion.receive(self.end, at: 0)
        var previous = motion.pose(at: 0)
        #expect(previous == self.start)
        for time in stride(from: 5.0, through: 1000, by: 5) {
            let pose = motion.pose(at: time)
            #expect(pose.position.x >= previous.position.x && pose.position.x <= 100)
            #expect(previous.rotation.shortestTurn(to: pose.rotation) >= 0)
            previous = pose
        }
        let left = 1 - motion.pose(at: 100).position.x / 100
        #expect(left > 0.09 && left < 0.1)
        #expect(motion.pose(at: 1000) == self.end)
        #expect(motion.isAtRest(at: 1000))
    }

    @Test func aSpringKeepsItsSpeedFromOneUpdateToTheNext() throws {
        var motion = try #require(RemoteMotion(from: self.start, style: .spring, pace: UpdatePace(initial: 50)))
        motion.receive(self.end, at: 0)
        let before = (motion.pose(at: 20).position.x - motion.pose(at: 19.999).position.x) / 0.001
        motion.receive(Pose(position: .zero, rotation: .zero, scaleX: 1, scaleY: 1), at: 20)
        let after = (motion.pose(at: 20.001).position.x - motion.pose(at: 20).position.x) / 0.001
        #expect(before > 1)
        #expect(isClose(before, after, within: 1e-3))
    }

    @Test(arguments: [181, 182] as [UInt64])
    func nothingJumpsAndAnglesTakeTheShortestWay(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        for style in [RemoteMotion.Style.linear, .spring] {
            for _ in 0..<200 {
                var motion = try #require(RemoteMotion(from: inventor.pose(), style: style))
                var now = 0.0
                for _ in 0..<20 {
                    now += inventor.uniform(1...100)
                    let (before, target) = (motion.pose(at: now), inventor.pose())
                    motion.receive(target, at: now)
                    let after = motion.pose(at: now)
                    #expect(isClose(before.position, after.position), "seed \(seed)")
                    #expect(before.rotation.shortestTurn(to: after.rotation).magnitude < 1e-9, "seed \(seed)")
                    #expect(
                        isClose(before.scaleX, after.scaleX) && isClose(before.scaleY, after.scaleY), "seed \(seed)")
                    guard style == .linear else { continue }
                    let next = motion.pose(at: now + motion.pace.interval / 2)
                    let (way, turned) = (
                        after.rotation.shortestTurn(to: target.rotation),
                        after.rotation.shortestTurn(to: next.rotation)
                    )
                    #expect(isClose(turned, way / 2), "seed \(seed)")
                }
                #expect(motion.pose(at: now + 10_000) == motion.target, "seed \(seed): \(style)")
            }
        }
    }

    @Test(arguments: [183, 184] as [UInt64])
    func everyFiniteNumberIsAcceptedAndDrawsSomethingFinite(seed: UInt64) throws {
        var inventor = Inventor(seed: seed)
        func pose() -> Pose {
            Pose(
                position: inventor.anyPoint(), rotation: Angle(degrees: inventor.anyNumber()),
                scaleX: inventor.anyNumber(), scaleY: inventor.anyNumber())
        }
        for style in [RemoteMotion.Style.linear, .spring] {
            for _ in 0..<300 {
                var motion = try #require(RemoteMotion(from: pose(), style: style))
                for _ in 0..<10 {
                    let now = inventor.chance(50) ? inventor.anyNumber() : inventor.uniform(0...1000)
                    let gap = inventor.chance(50) ? inventor.anyNumber() : nil
                    let isAccepted = motion.receive(pose(), at: now, gap: gap)
                    #expect(isAccepted, "seed \(seed)")
                    for time in [now, now + 10, now + 40, inventor.anyNumber()] {
                        #expect(motion.pose(at: time).isFinite, "seed \(seed): \(motion) at \(time)")
                    }
                }
            }
        }
    }

    @Test(arguments: notFinite)
    func numbersThatAreNotFiniteAreRefused(number: Double) throws {
        var motion = try #require(RemoteMotion(from: self.start))
        let untouched = motion
        var poses = [self.end, self.end, self.end]
        (poses[0].position.x, poses[1].position.y, poses[2].scaleX) = (number, number, number)
        for pose in poses {
            let accepted = [motion.receive(pose, at: 0), motion.jump(to: pose, at: 0)]
            #expect(accepted == [false, false])
            #expect(RemoteMotion(from: pose) == nil)
        }
        let accepted = [motion.receive(self.end, at: number), motion.jump(to: self.end, at: number)]
        #expect(accepted == [false, false])
        #expect(motion == untouched)
        #expect(motion.pose(at: number) == self.start)
    }

    @Test func aJumpIsNotAnimated() throws {
        var motion = try #require(RemoteMotion(from: self.start, style: .spring))
        motion.receive(self.start.interpolated(to: self.end, fraction: 0.5), at: 0)
        motion.jump(to: self.end, at: 10)
        #expect(motion.isAtRest(at: 10))
        #expect(motion.pose(at: 11) == self.end)
    }

    @Test func theTargetMayMoveByItself() throws {
        var motion = try #require(RemoteMotion(from: self.start, pace: UpdatePace(initial: 100)))
        var drawn = self.end
        drawn.position = Point(x: 140, y: -50)
        motion.receive(self.end, at: 1000, from: drawn)
        #expect(motion.pose(at: 1000) == drawn)
        var target = self.end
        target.position = Point(x: 300, y: 0)
        #expect(isClose(motion.pose(at: 1050, towards: target).position, Point(x: 320, y: 0)))
        #expect(motion.pose(at: 1100, towards: target) == target)
        let accepted = motion.receive(
            self.end, at: 1200, from: Pose(position: Point(x: .nan, y: 0), rotation: .zero, scaleX: 1, scaleY: 1))
        #expect(!accepted)
    }

    @Test func aClockThatRunsBackwardsStandsStill() throws {
        var motion = try #require(RemoteMotion(from: self.start, pace: UpdatePace(initial: 100)))
        motion.receive(self.end, at: 1000)
        #expect(motion.pose(at: 900) == self.start)
        motion.receive(self.end, at: 900)
        #expect(motion.pose(at: 1000) == self.start)
        #expect(motion.pose(at: 1100) == self.end)
    }

    @Test func thePaceFollowsTheMeasuredGaps() {
        var pace = UpdatePace(initial: 50)
        #expect(pace.interval == 50)
        pace.measure(16)
        #expect(pace.interval == 16)
        pace.measure(36)
        #expect(pace.interval == 21)
        // Pauses and what is no measurement say nothing.
        for gap in [0, -5, 251, 1e300, .nan, .infinity] { pace.measure(gap) }
        #expect(pace.interval == 21)
        for _ in 0..<100 { pace.measure(1) }
        #expect(pace.interval >= 8 && pace.interval < 8.1)
        for _ in 0..<100 { pace.measure(250) }
        #expect(pace.interval > 249 && pace.interval <= 250)
        #expect(UpdatePace(initial: .nan).interval == 33)
        #expect(UpdatePace(initial: -1).interval == 8)
    }

    @Test func theIntervalIsThatOfTheAppOrThatOfTheArrivals() throws {
        var motion = try #require(RemoteMotion(from: self.start))
        motion.receive(self.end, at: 0, gap: 0)
        motion.receive(self.end, at: 40, gap: 20)
        #expect(motion.pace.interval == 20)
        var other = try #require(RemoteMotion(from: self.start))
        other.receive(self.end, at: 0)
        other.receive(self.end, at: 40)
        #expect(other.pace.interval == 40)
    }
}
