import SyncCore

// What a run remembers of rows: in memory, and in a table once that would take too much.
extension SyncTransaction {
    /// Reads the marks of rows that are about to be asked for. Which those are is only worked out where any were moved out of
    /// memory.
    func loadMarks(of rows: @autoclosure () throws -> some Sequence<StoredRow>) throws {
        if let table = run?.table { try spilledMarks.load(rows(), from: table) }
    }

    /// What earlier pages of the run, and what was applied of this one, said of a row.
    func marks(of row: StoredRow) throws -> RowMark {
        guard let known = run?.rows[row] else { return [] }
        guard let table = run?.table else { return known }
        return known.union(try spilledMarks.mark(of: row, from: table))
    }

    /// Adds a mark to those of a row.
    ///
    /// - Returns: Those it had.
    @discardableResult
    mutating func add(_ mark: RowMark, to row: StoredRow) throws -> RowMark {
        guard let known = run?.rows.insert(mark, for: row) else { return [] }
        guard let table = run?.table, !known.isSuperset(of: mark) else { return known }
        return known.union(try spilledMarks.mark(of: row, from: table))
    }

    /// Moves the marks to the table if they have become too many.
    mutating func limitMarks() throws {
        guard let size = run?.rows.size, size > options.pieces.markLimit, var rows = run?.rows else { return }
        run?.rows = MarkedRows()
        let table = try store.move(&rows, to: run?.table)
        run?.table = table
        spilledMarks.removeAll()
    }

    /// The run is over.
    mutating func dropMarks() throws {
        guard run?.isEnding == true, let table = run?.table else { return }
        try store.dropMarks(in: table)
        run?.table = nil
    }

    // MARK: What they mean

    /// Whether anything in the payload, or in an earlier page of its run, mentions a stored row.
    func isMentioned(_ row: StoredRow) throws -> Bool {
        try tables.node(of: row) != nil || isMentionedBefore(row)
    }

    /// Whether an earlier page of the run mentions a stored row.
    func isMentionedBefore(_ row: StoredRow) throws -> Bool { try marks(of: row).contains(.mentioned) }

    /// Whether an earlier page of the run, or this one, lists a stored row as its parent's.
    func isListed(_ row: StoredRow) throws -> Bool { try marks(of: row).contains(.listed) }
}
