import SyncCore

extension SyncTransaction {
    /// Everything is written: makes sure of it, and tells about it.
    mutating func finish() throws -> SyncResult {
        try reportMendedRows()
        try writeLinks()
        try store.checkLinks()
        try checkGuard()
        try store.end(awaits: !awaited.isEmpty)
        try dropMarks()
        if !request.isDryRun { try notifyObservers() }
        run?.storeMemory = store.memory
        var result = report.takeResult(unresolved: unresolved)
        try history?.add(to: &result)
        return result
    }

    /// Tells observers which tables changed, once.
    private func notifyObservers() throws {
        let wroteLinks = report.linksAdded + report.linksRemoved > 0
        let changed = model.trees.filter { tree in
            wroteLinks || tree.entities.contains { !report.entities[$0].isEmpty }
        }
        guard !changed.isEmpty else { return }
        try store.notifyObservers(of: changed.map(\.id), andPairs: wroteLinks)
    }
}
