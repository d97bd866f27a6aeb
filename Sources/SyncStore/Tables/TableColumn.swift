/// A column of a table, as ``ChangedColumns`` counts them.
package enum TableColumn: Equatable, Sendable {
    /// The attribute of a slot.
    case attribute(Int)
    /// A foreign key, by its position in ``EntityTree/foreignKeys``.
    case foreignKey(Int)
    /// The place of rows in the lists of what a foreign key leads to.
    case place(Int)
}
