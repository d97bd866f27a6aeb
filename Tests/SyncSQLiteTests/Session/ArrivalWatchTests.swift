import GRDB
import SyncCore
import Testing

@testable import SyncSQLite

@Suite("Who wrote to a store")
struct ArrivalWatchTests {
    private typealias Point = ArrivalWatch.Point
    private let watch = ArrivalWatch()
    private let start = Point(dataVersion: 3, changes: 10)

    @Test("Tables are settled as long as nothing is written")
    func settled() {
        #expect(watch.settled(at: start).isEmpty)
        watch.settle([TableID(1), TableID(2)], at: start)
        #expect(watch.settled(at: start) == [TableID(1), TableID(2)])
        #expect(watch.settled(at: Point(dataVersion: 3, changes: 11)).isEmpty)
        #expect(watch.settled(at: Point(dataVersion: 4, changes: 10)).isEmpty)
        watch.settle([TableID(2)], at: Point(dataVersion: 4, changes: 10))
        #expect(watch.settled(at: start).isEmpty)
        #expect(watch.settled(at: Point(dataVersion: 4, changes: 10)) == [TableID(2)])
    }

    @Test("They still are when what was written is taken back")
    func moved() {
        watch.settle([TableID(1)], at: start)
        let after = Point(dataVersion: 3, changes: 12)
        watch.move(from: start, to: after)
        #expect(watch.settled(at: after) == [TableID(1)] && watch.settled(at: start).isEmpty)
    }

    @Test("They are not if others had written before")
    func notMoved() {
        watch.settle([TableID(1)], at: start)
        let (before, after) = (Point(dataVersion: 3, changes: 11), Point(dataVersion: 3, changes: 12))
        watch.move(from: before, to: after)
        #expect(watch.settled(at: after).isEmpty && watch.settled(at: start) == [TableID(1)])
    }

    @Test("Links are sound until another connection writes")
    func soundness() {
        func sound() -> [Set<LinkID>] {
            [start, Point(dataVersion: 3, changes: 99), Point(dataVersion: 4, changes: 10)].map {
                watch.soundness(at: $0).sound
            }
        }
        #expect(sound() == [[], [], []])
        watch.note(LinkSoundness(weighed: [LinkID(0), LinkID(1)], sound: [LinkID(1)]), at: start)
        watch.note(LinkSoundness(weighed: [], sound: [LinkID(2)]), at: Point(dataVersion: 3, changes: 20))
        #expect(sound() == [[LinkID(1), LinkID(2)], [LinkID(1), LinkID(2)], []])
        #expect(watch.soundness(at: start).weighed == [LinkID(0), LinkID(1)])
        watch.note(LinkSoundness(weighed: [], sound: [LinkID(3)]), at: Point(dataVersion: 4, changes: 0))
        #expect(sound() == [[], [], [LinkID(3)]])
        watch.forgetSoundness()
        #expect(sound() == [[], [], []])
    }

    @Test("A moment is another one once the connection has written")
    func points() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE Item (number INTEGER)")
            let before = try Point(db)
            #expect(try Point(db) == before)
            try db.execute(sql: "INSERT INTO Item VALUES (1)")
            #expect(try Point(db) != before)
        }
    }
}
