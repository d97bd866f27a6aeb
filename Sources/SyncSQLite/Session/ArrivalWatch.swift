import Foundation
import GRDB
import SyncCore

/// Knows which tables only syncs have written to, so that a sync need not look for rows that came by other means; and
/// which links lead to stored rows only, as they do until a connection without foreign keys writes.
///
/// `@unchecked Sendable`: its variables are only touched while `lock` is held.
package final class ArrivalWatch: @unchecked Sendable {
    /// A moment of a store: another one if anything was written since, by this connection or by others.
    struct Point: Hashable {
        /// Changes when another connection commits.
        var dataVersion: Int
        /// How many rows this connection has written.
        var changes: Int

        init(dataVersion: Int, changes: Int) {
            self.dataVersion = dataVersion
            self.changes = changes
        }

        init(_ db: Database) throws {
            dataVersion = try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0
            changes = db.totalChangesCount
        }
    }

    private let lock = NSLock()
    private var point: Point?
    private var tables: Set<TableID> = []
    /// Of a transaction that is followed: what was settled before it.
    private var followed: Set<TableID>?
    private var links: (dataVersion: Int, soundness: LinkSoundness) = (0, LinkSoundness())

    package init() {}

    /// The tables that are settled, if nothing was written since they were.
    func settled(at now: Point) -> Set<TableID> {
        lock.withLock { followed ?? (point == now ? tables : []) }
    }

    func settle(_ tables: Set<TableID>, at now: Point) {
        lock.withLock {
            point = now
            self.tables = tables
        }
    }

    /// What was written since `start` was taken back.
    func move(from start: Point, to now: Point) {
        lock.withLock { if point == start { point = now } }
    }

    /// Follows what a transaction writes that brings rows by syncs alone, whatever else it changes.
    func follow<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        let start = try Point(db)
        lock.withLock { followed = point == start ? tables : [] }
        defer { lock.withLock { followed = nil } }
        let result = try body()
        let end = Point(dataVersion: start.dataVersion, changes: db.totalChangesCount)
        // After what syncs in it have noted at their own ends.
        db.afterNextTransaction(onCommit: { [self] _ in
            lock.withLock {
                if let point, point.dataVersion == start.dataVersion, point.changes >= start.changes {
                    self.point = end
                }
            }
        })
        return result
    }

    /// A row came by other means than a sync in a transaction that is followed.
    func noteArrival() { lock.withLock { if followed != nil { followed = [] } } }

    // MARK: Sound links

    /// What this connection writes leaves them sound.
    func soundness(at now: Point) -> LinkSoundness {
        lock.withLock { links.dataVersion == now.dataVersion ? links.soundness : LinkSoundness() }
    }

    func note(_ soundness: LinkSoundness, at now: Point) {
        lock.withLock {
            if links.dataVersion != now.dataVersion { links = (now.dataVersion, LinkSoundness()) }
            links.soundness.formUnion(soundness)
        }
    }

    /// Links that were mended are as they were.
    func forgetSoundness() { lock.withLock { links.soundness = LinkSoundness() } }
}
