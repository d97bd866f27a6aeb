import SyncCore

extension SyncTransaction {
    /// Refuses to delete more of an entity than the caller allows.
    func checkGuard() throws {
        guard let limit = options.deletionGuard else { return }
        for (id, changes) in report.entities.enumerated() where changes.deletedCount > 0 {
            let deleted = changes.deletedCount
            let gone = deleted - changes.insertedCount - (run?.changes.insertedCount(model.entities[id].name) ?? 0)
            // Of a large table as many rows are counted as make the deletion a small one.
            let enough = limit.rows(allowing: deleted)
            if let enough,
                try deleted
                    <= limit.allowed(of: gone + store.count(of: model.entities[id], upTo: max(enough - gone, 0)))
            {
                continue
            }
            let before = try gone + store.count(of: model.entities[id], upTo: nil)
            let allowed = limit.allowed(of: before)
            guard deleted > allowed else { continue }
            let name = model.entities[id].name
            throw SyncError(
                .deletionGuard,
                "\(deleted) of \(before) \(name) rows would be deleted, more than the \(allowed) allowed; nothing was \(options.payload.run == nil ? "written" : "deleted")",
                entity: name)
        }
    }
}

extension DeletionGuard {
    /// How many of so many rows may be deleted.
    package func allowed(of before: Int) -> Int {
        switch self {
        case .rows(let rows): rows
        case .fraction(let part, let above):
            before > above ? Int((Double(before) * part).rounded(.down)) : before
        }
    }

    /// A number of rows of which, or of any more, so many may be deleted; nil if there is none.
    fileprivate func rows(allowing deleted: Int) -> Int? {
        switch self {
        case .rows(let rows): return deleted <= rows ? 0 : nil
        case .fraction(let part, let above):
            guard part > 0, Double(deleted) / part < 1e9 else { return nil }
            return max(Int((Double(deleted) / part).rounded(.up)) + 1, above + 1)
        }
    }
}
