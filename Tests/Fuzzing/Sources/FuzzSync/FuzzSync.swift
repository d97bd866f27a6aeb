import FuzzSupport
import Sync
import SyncCalls
import SyncCore
import SyncSQLite

/// Fuzzes syncs into a store in memory. Bytes, values and chunks give the same rows, a plan equals the sync, and a
/// second sync changes nothing.
@main
enum FuzzSync {
    static func main() {
        fuzz { start, count in
            FuzzCall.read(UnsafeBufferPointer(start: start, count: count), FuzzSync.check)
            return 0
        }
    }

    static func check(_ call: FuzzCall) {
        let comparison = SyncComparison(call)
        let store = FuzzStore(for: call)
        let before = store.contents
        let planned = store.plan()
        require(store.contents == before, "the dry run wrote something")
        let done = store.sync()
        require(!comparison.again || planned == done, "planned \(planned), done \(done)")
        let after = store.contents
        if case .failure(let error) = done {
            require(after == before, "a refused payload changed something: \(error)")
            // Rejections because of stored rows have no location in the payload.
            if error.code != .deletionDenied { error.requirePlace(in: call.payload) }
        }
        require(store.damage == [], "the store is damaged: \(store.damage)")
        if case .success = done, comparison.writesOnce { requireNothingLeft(in: store, after, call) }

        guard comparison.again else { return }
        let ofValues = FuzzStore(for: call)
        if let same = ofValues.syncValue() {
            requireSame(done, same, "as values")
            requireSame(ofValues.contents, after, "as values")
        }
        if comparison.inPieces { requireSameInPieces(done, after, call) }
    }

    // MARK: Properties

    static func requireSameInPieces(_ done: FuzzStore.Outcome, _ after: StoreDump, _ call: FuzzCall) {
        let store = FuzzStore(for: call)
        let inPieces = store.syncPieces()
        if !isFoundEarlier(inPieces, than: done) { requireSame(done, inPieces, "in pieces", alsoResults: false) }
        requireSame(store.contents, after, "in pieces")
        require(store.damage == [], "in pieces: \(store.damage)")
    }

    /// Returns whether both were rejected, but the sync in chunks because of inconsistent records, before it read the
    /// rest.
    static func isFoundEarlier(_ inPieces: FuzzStore.Outcome, than done: FuzzStore.Outcome) -> Bool {
        guard case .failure = done, case .failure(let error) = inPieces else { return false }
        return error.code == .inconsistentRecords
    }

    static func requireNothingLeft(in store: FuzzStore, _ after: StoreDump, _ call: FuzzCall) {
        let changes = store.changes
        let again = store.sync()
        guard case .success(let second) = again else { fail("the second time: \(again)") }
        require(second.isEmpty, "a second sync of the same payload: \(second)")
        requireSame(store.contents, after, "a second sync")
        require(store.changes == changes, "a second sync wrote \(store.changes - changes) rows")
    }

    static func requireSame(_ found: StoreDump, _ expected: StoreDump, _ name: String) {
        require(found == expected, "\(name): \(found.differences(from: expected))")
    }

    static func requireSame(
        _ expected: FuzzStore.Outcome, _ found: FuzzStore.Outcome, _ name: String, alsoResults: Bool = true
    ) {
        switch (expected, found) {
        case (.success(let expected), .success(let found)):
            require(!alsoResults || found == expected, "\(name): \(found), not \(expected)")
        case (.failure(let expected), .failure(let found)):
            require(expected.code == found.code, "\(name): \(found), not \(expected)")
        default: fail("\(name): \(found), not \(expected)")
        }
    }
}
