import GRDB
import SyncCore
import SyncStore

// Cycles of new rows that wait for each other. One row of a cycle may be sent without its reference.
extension OutgoingRequestBuilder {
    struct RowName: Hashable {
        let table: Int
        private let exact: BinaryComparedValue

        var key: DatabaseValue { exact.value }

        init(table: Int, key: DatabaseValue) { (self.table, exact) = (table, key.exact) }
    }

    /// Returns the rows that fields reference and that the service does not have: new rows, and rows that the service
    /// deleted or lacks. The result includes new rows of entities that another engine syncs. That engine sends them.
    func pendingRows(of fields: [OutgoingField]) throws -> [RowName] {
        let tables = engine.tables + engine.otherTables
        return try fields.flatMap { field in
            let destination = field.column?.destination ?? field.joinTable?.destination
            return try (field.joinTable == nil ? [field.value] : field.others).compactMap { key -> RowName? in
                guard !key.isNull, let table = try engine.table(destination, holding: key, among: tables, in: db),
                    try hasTombstone(key, table) || ledger.change(of: key, table)?.creationID != nil
                else { return nil }
                return RowName(table: table.number, key: key)
            }
        }
    }

    /// Returns whether every row that a new row waits for also waits for the new row, directly or through other rows.
    /// Returns false if one of these rows cannot be sent. Only a row in such a cycle is sent without its reference.
    func isInCycle(_ key: DatabaseValue, _ table: TrackedTable, _ pending: [OutgoingField]) throws -> Bool {
        let own = RowName(table: table.number, key: key)
        var pendingByTarget: [RowName: [RowName]] = [:]
        var rest = [own]
        while let row = rest.popLast() {
            guard pendingByTarget[row] == nil else { continue }
            guard let table = order.first(where: { $0.number == row.table }), let edits = edits[row.table],
                try isSendable(row, table), let values = try table.fieldReader.values(of: row.key, in: db)
            else { return false }
            let next = try pendingRows(of: edits.all(of: row.key, values))
            pendingByTarget[row] = next
            rest += next
        }
        return try pendingRows(of: pending).allSatisfy { reaches(own, from: $0, pendingByTarget) }
    }

    private func reaches(_ row: RowName, from first: RowName, _ pendingByTarget: [RowName: [RowName]]) -> Bool {
        var (seen, rest): (Set<RowName>, [RowName]) = ([], [first])
        while let next = rest.popLast() {
            if next == row { return true }
            if seen.insert(next).inserted { rest += pendingByTarget[next] ?? [] }
        }
        return false
    }

    /// Returns whether a new row will be sent: its create is neither blocked nor in conflict.
    private func isSendable(_ row: RowName, _ table: TrackedTable) throws -> Bool {
        guard let change = try ledger.change(of: row.key, table) else { return false }
        return change.kind == .create && change.state == .ready
    }
}
