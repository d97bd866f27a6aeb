import GRDB
import SyncCore

/// Runs closures when the current transaction of a stack's connection ends.
///
/// GRDB's `afterNextTransaction` does the same, but each call makes GRDB compile all cached `DELETE` statements again.
/// This observer is added to a connection once.
final class TransactionEndObserver: TransactionObserver, Sendable {
    typealias Action = @Sendable (Database) -> Void

    private struct Actions {
        var onCommit: [Action] = []
        var onRollback: [Action] = []
    }

    private let actions = Locked(Actions())
    private let connection = Locked<ObjectIdentifier?>(nil)
    private let onOtherCommit: Action

    /// - Parameter onOtherCommit: A closure that runs after each commit of an observed connection that has no actions,
    ///   such as a commit of the app. A connection is observed from the first call of
    ///   ``afterTransaction(of:onCommit:onRollback:)`` on.
    init(onOtherCommit: @escaping Action) { self.onOtherCommit = onOtherCommit }

    func afterTransaction(
        of db: Database, onCommit: @escaping Action = { _ in }, onRollback: @escaping Action = { _ in }
    ) {
        let isNew = connection.withLock { connection in
            defer { connection = ObjectIdentifier(db) }
            return connection != ObjectIdentifier(db)
        }
        if isNew { db.add(transactionObserver: self) }
        actions.withLock { actions in
            actions.onCommit.append(onCommit)
            actions.onRollback.append(onRollback)
        }
    }

    private func takeActions() -> Actions {
        actions.withLock { actions in
            defer { actions = Actions() }
            return actions
        }
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {
        let actions = takeActions().onCommit
        for action in actions.isEmpty ? [onOtherCommit] : actions { action(db) }
    }
    func databaseDidRollback(_ db: Database) { for action in takeActions().onRollback { action(db) } }
}
