import Foundation
import GRDB
import SyncStore

/// Has what compiled conditions use on every connection that they run on, once: also on those of a database that an app
/// opened, whose pool makes connections when it needs them.
///
/// `@unchecked Sendable`: `known` is only touched while `lock` is held.
final class ConnectionFunctions: @unchecked Sendable {
    private struct Connection {
        weak var db: Database?
    }

    private static let shared = ConnectionFunctions()

    private let lock = NSLock()
    private var known: [ObjectIdentifier: Connection] = [:]

    /// A function that is there is not made again: SQLite refuses that while a statement runs.
    static func install(in db: Database) {
        if shared.isNew(db) { PredicateSQL.install(in: db) }
    }

    private func isNew(_ db: Database) -> Bool {
        lock.withLock {
            if known[ObjectIdentifier(db)]?.db === db { return false }
            known = known.filter { $0.value.db != nil }
            known[ObjectIdentifier(db)] = Connection(db: db)
            return true
        }
    }
}
