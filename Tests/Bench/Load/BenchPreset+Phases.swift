extension BenchPreset {
    /// 100 normal members alone, then next to 100 slow readers in the same rooms, then next to 100 that never read.
    /// Elements are large, so that unread output piles up within seconds.
    static var slowReaderPhases: [NamedLoad] {
        var load = Load()
        load.rooms = 10
        load.rate = 30
        load.commitRate = 200
        load.elementBytes = 6000
        load.ramp = 1
        load.duration = 6
        var beside = load
        beside.members = 20
        beside.slowShare = 0.5
        beside.slowBytes = 1
        var deaf = beside
        deaf.slowBytes = 0
        let goals = [Goal(.previewP99, 1.2, times: .phase("without")), Goal(.memoryGrowth, 1.25)]
        return [
            NamedLoad("slow-readers", phase: "without", load),
            NamedLoad("slow-readers", phase: "beside 1 B/s", beside, goals: goals),
            NamedLoad("slow-readers", phase: "beside the deaf", deaf, goals: goals),
        ]
    }

    /// 200 commits a second, first next to few previews, then next to twice as many as the servers deliver in time,
    /// then next to few again; on the same connections, so that any backlog would still be there.
    static var overloadPhases: [NamedLoad] {
        var search = Load()
        search.members = 30
        search.warmUp = 1
        search.duration = 2
        var calm = search
        calm.senders = 1
        calm.rate = 10
        calm.commitRate = 200
        calm.committers = 2
        calm.warmUp = 2
        calm.duration = 8
        var crowded = calm
        crowded.rate = 60
        var phases = [
            NamedLoad("overload", phase: "trying", search), NamedLoad("overload", phase: "calm", calm),
            NamedLoad("overload", phase: "twice too much", crowded), NamedLoad("overload", phase: "calm again", calm),
        ]
        phases[0].senders = .tried([2, 3, 4, 5, 6, 7, 8, 10, 12, 15])
        phases[2].senders = .timesFound(2)
        phases[2].goals = [
            Goal(.acknowledgementP99, 4, times: .phase("calm")), Goal(.unanswered, 0), Goal(.memoryGrowth, 1.1),
        ]
        phases[3].goals = [Goal(.previewP99, 20), Goal(.unanswered, 0)]
        for place in 1...3 { phases[place].continues = true }
        return phases
    }

    /// 200 commits a second alone, then beside two groups of 500 elements a second, which are written and broadcast whole.
    static var groupPhases: [NamedLoad] {
        var load = Load()
        load.rate = 0
        load.commitRate = 200
        load.elements = 500
        var beside = load
        beside.groupRate = 2
        let goals = [Goal(.groupP50, 25), Goal(.acknowledgementP99, 2, times: .phase("without")), Goal(.unanswered, 0)]
        return [
            NamedLoad("groups", phase: "without", load),
            NamedLoad("groups", phase: "beside groups", beside, goals: goals),
        ]
    }

    /// 20 viewers of 1,000 movers in one room: first they see everything, then each sees 5 % of the movers.
    static var viewportPhases: [NamedLoad] {
        var load = Load()
        load.rooms = 1
        load.members = 1020
        load.senders = 1000
        load.rate = 4
        load.areSendersBlind = true
        load.ramp = 8
        var seen = load
        seen.viewShare = 0.05
        return [
            NamedLoad("viewports", phase: "everything", load), NamedLoad("viewports", phase: "5 % in view", seen),
        ]
    }

    /// 40 senders at 30 Hz in rooms of ten, each of which commits every 1.5 s: of values first; then of gestures, one of
    /// four about the pivot of a group of ten elements.
    static var gesturePhases: [NamedLoad] {
        var load = Load()
        load.rooms = 10
        load.senders = 4
        load.rate = 30
        load.groupElements = 9
        var gestures = load
        load.commitRate = Double(load.rooms * load.senders) / 1.5
        gestures.gesturePreviews = 44
        gestures.gestureGroups = 1
        let goals = [
            Goal(.previewP99, 20), Goal(.cpuPerDelivery, 2, times: .phase("values")), Goal(.unanswered, 0),
        ]
        return [
            NamedLoad("gestures", phase: "values", load),
            NamedLoad("gestures", phase: "deltas", gestures, goals: goals),
        ]
    }

    /// 60 previews and 420 deliveries a second from 1, 10, 100 or 1,000 rooms in total. Each room has one sender,
    /// because previews of one room leave together: with more senders fewer rooms would be cheaper.
    static var scalePhases: [NamedLoad] {
        [1, 10, 100, 1000].map { rooms in
            var load = Load()
            load.rooms = rooms
            load.members = 8
            load.senders = 1
            load.rate = 60 / Double(rooms)
            load.ramp = max(1, Double(rooms) / 100)
            let goals = [Goal(.cpuPerDelivery, 1.5, times: .lowest)]
            return NamedLoad("scale", phase: rooms == 1 ? "1 room" : "\(rooms) rooms", load, goals: goals)
        }
    }
}
