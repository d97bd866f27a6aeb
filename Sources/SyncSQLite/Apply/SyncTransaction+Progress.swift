import SyncCore

extension SyncTransaction {
    /// Tells how far the sync is, and notices a cancelled task.
    func tellProgress() throws {
        if Task.isCancelled { throw CancellationError() }
        guard let progress = options.progress else { return }
        guard let expectedSteps else { return progress(PayloadProgress(.comparing, completed: steps)) }
        progress(PayloadProgress(.writing, completed: steps, total: steps <= expectedSteps ? expectedSteps : nil))
    }

    /// What is counted from here on is written.
    mutating func beginWriting() throws {
        let newLinks = joins.values.reduce(0) { $0 + $1.added.count }
        let newRows = trees.reduce(0) { $0 + $1.presence.count { $0 == .new } }
        try PageCache.grow(forInserting: newRows + newLinks, db)
        guard options.progress != nil else { return }
        steps = 0
        expectedSteps = newLinks + trees.reduce(0) { $0 + $1.rowsToWrite }
    }
}

extension TreeState {
    fileprivate var rowsToWrite: Int {
        presence.indices.count { presence[$0] == .new || presence[$0] == .stored && isDirty($0) }
    }
}
