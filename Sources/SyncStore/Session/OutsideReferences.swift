package import SyncCore

/// Rows of a table that is not in the model, which reference rows of the model that a sync deletes.
package struct OutsideReferences: Sendable {
    /// What the foreign key does with the rows.
    package enum Effect: Sendable {
        /// It deletes them (`ON DELETE CASCADE`).
        case deleted
        /// It changes their columns (`ON DELETE SET NULL` and `SET DEFAULT`).
        case changed
        /// It denies the deletion.
        case denied
    }

    package let table: String
    /// The names of the columns of the foreign key.
    package let columns: String
    package let effect: Effect
    /// The table of the deleted rows.
    package let target: TableID
    /// The key of the first deleted row; nil if it is not known.
    package var targetKey: RowKey?
    /// The name of the first row that references a deleted row.
    package let row: String
    /// The number of rows.
    package var count: Int

    package init(
        table: String, columns: String, effect: Effect, target: TableID, targetKey: RowKey? = nil, row: String = "",
        count: Int = 1
    ) {
        (self.table, self.columns, self.effect, self.target) = (table, columns, effect, target)
        (self.targetKey, self.row, self.count) = (targetKey, row, count)
    }

    fileprivate func isSameForeignKey(as other: Self) -> Bool {
        table == other.table && columns == other.columns && target == other.target
    }
}

extension [OutsideReferences] {
    /// Adds rows. Rows that have the same foreign key are counted together.
    package mutating func add(_ references: OutsideReferences) {
        if let index = firstIndex(where: { $0.isSameForeignKey(as: references) }) {
            self[index].count += references.count
        } else {
            append(references)
        }
    }
}
