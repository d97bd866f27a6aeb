/// Where an exporter has its rows from.
package protocol ExportSource {
    associatedtype SourceRow

    /// The row's own entity, which may be one below the entity it was asked for as.
    func entity(of row: SourceRow) -> CompiledEntity
    /// Which row it is, over all entities.
    func identity(of row: SourceRow) -> RowIdentity
    /// Its key, as JSON refers to it.
    func key(of row: SourceRow) -> RecordKey
    /// One value per slot of the entity's tree; a local key is null.
    func values(of row: SourceRow) -> [StoredValue]
    /// The rows a relationship leads to, in its order; one or none for a to-one.
    func targets(of row: SourceRow, along relationship: CompiledRelationship) throws -> [SourceRow]
    /// Whether a relationship refers to rows that are not there yet.
    func isWaiting(_ row: SourceRow, along relationship: String) throws -> Bool
    /// What stands for the rows of a relationship that are not known, but by their keys; nil for nothing.
    func reference(_ row: SourceRow, along relationship: CompiledRelationship) -> JSONValue?
}

extension ExportSource {
    package func reference(_ row: SourceRow, along relationship: CompiledRelationship) -> JSONValue? { nil }
}

/// A row of a store: its table and its key there.
package struct RowIdentity: Hashable {
    let table: TableID
    let key: RecordKey

    package init(table: TableID, key: RecordKey) {
        self.table = table
        self.key = key
    }
}
