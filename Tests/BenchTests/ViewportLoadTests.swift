import Testing

@testable import bench

@Suite struct ViewportLoadTests {
    @Test func sendersMoveInColumnsThatDecodeToTheSameTime() {
        let (x, y) = SendTime.coordinates(12_345_678)
        for column in [0, 1, 999] as [Int64] {
            #expect(SendTime.time(x: column * SendTime.column + x, y: y) == 12_345_678)
        }
        #expect(SendTime.time(x: -x, y: y) == nil)
    }

    @Test func viewersSeeTheirShareOfTheColumns() {
        var load = Load()
        load.rooms = 1
        load.members = 1020
        load.senders = 1000
        #expect(ClientPlan.plans(load)[1000].view(load) == nil)
        load.viewShare = 0.05
        for plan in ClientPlan.plans(load)[1000...] {
            let view = plan.view(load)
            #expect(view?.count == 50 && (view?.upperBound ?? .max) <= 1000)
        }
    }
}
