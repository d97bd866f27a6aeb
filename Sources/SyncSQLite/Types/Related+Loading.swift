public import SyncCore

extension Related where Row: EntityRecord {
    /// Takes rows that were loaded.
    public mutating func load(_ rows: [any EntityRecord]) { self.rows = rows.compactMap { $0 as? Row } }
}
