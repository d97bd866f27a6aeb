package import SyncCore

/// Values of Swift types as an exporter's rows, so that they become JSON that a sync reads back.
struct TypedSource: ExportSource {
    struct SourceRow {
        let entity: CompiledEntity
        let identity: RowIdentity
        let key: RecordKey
        let values: [StoredValue]
        let references: [String: JSONValue]
        let related: [String: [any EntityRecord]]
    }

    let model: CompiledModel

    /// - Throws: ``SyncError`` `unknownEntity`, `valueDoesNotFit`.
    func row<Value: EntityRecord>(_ value: Value) throws -> SourceRow {
        let entity = try model.entity(named: Value.entityName)
        var given = EntityValues(of: entity.name)
        try value.encode(into: &given)
        var values = [StoredValue](repeating: .null, count: model[entity.table].attributes.count)
        for (name, value, _) in given.attributes {
            guard let slot = entity.slotByName[name] else { continue }
            guard value.hasJSONForm else {
                throw SyncError(.valueDoesNotFit, "\(value) is nothing that JSON has", entity: entity.name, path: name)
            }
            values[slot] = value
        }
        var references: [String: JSONValue] = [:]
        for reference in given.references where given.related[reference.relationship] == nil {
            // Without its parts nothing can be said of such a row.
            if reference.isRowNumber, !reference.key.isNull { continue }
            references[reference.relationship] = reference.key.jsonForm
        }
        let key = model.rowKey(value.syncID, of: entity)?.recordKey(model.keyType(of: entity.id))
        return SourceRow(
            entity: entity, identity: RowIdentity(table: entity.table, key: key ?? .text("")), key: key ?? .text(""),
            values: values, references: references, related: given.related)
    }

    func entity(of row: SourceRow) -> CompiledEntity { row.entity }
    func identity(of row: SourceRow) -> RowIdentity { row.identity }
    func key(of row: SourceRow) -> RecordKey { row.key }
    func values(of row: SourceRow) -> [StoredValue] { row.values }

    func targets(of row: SourceRow, along relationship: CompiledRelationship) throws -> [SourceRow] {
        try (row.related[relationship.name] ?? []).map { try self.row($0) }
    }

    /// Rows that were not loaded are as unknown as those that wait.
    func isWaiting(_ row: SourceRow, along relationship: String) -> Bool {
        row.related[relationship] == nil && row.references[relationship] == nil
            && row.entity.relationship(named: relationship)?.isToMany == true
    }

    func reference(_ row: SourceRow, along relationship: CompiledRelationship) -> JSONValue? {
        row.references[relationship.name]
    }
}

extension DataStack {
    /// Values as the JSON of a payload: what they have, and the rows of relationships as far as they are loaded.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`; `valueDoesNotFit` for what cannot be encoded, and for a type with an
    ///   attribute that no JSON is read back from.
    package func payload<Value: EntityRecord>(of values: [Value]) throws -> JSONValue {
        var options = ExportOptions()
        options.exportsAll = true
        if let omission = try model.exportOmissions(of: Value.entityName, options: options).first {
            throw SyncError(.valueDoesNotFit, "\(omission)", entity: Value.entityName)
        }
        let source = TypedSource(model: model.compiled)
        let entity = try model.compiled.entity(named: Value.entityName)
        var exporter = RecordExporter(model: model, options: options, source: source)
        return .array(try values.map { try exporter.record(try source.row($0), of: entity) })
    }
}
