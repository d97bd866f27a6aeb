public import GRDB
public import SyncCore

extension DataStack {
    /// Gives the rows of an entity as JSON one by one, from one read: memory is needed for one record, not for all.
    ///
    /// See ``export(_:where:orderedBy:limit:options:)-(_,RecordPredicate,_,_,_)`` for what a record has.
    ///
    /// - Parameters:
    ///   - offset: How many rows are passed over before the first.
    ///   - body: Is called for each record in order. What it throws ends the export and passes through.
    public func exportEach(
        _ entity: String, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil, offset: Int = 0, options: ExportOptions = ExportOptions(), _ body: (JSONValue) throws -> Void
    ) throws {
        try reading { db in
            try self.exportEach(
                entity, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options, in: db, body
            )
        }
    }

    /// Gives the rows of an entity as JSON one by one, from one read. Cancelling the task ends it.
    public func exportEach(
        _ entity: String, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil, offset: Int = 0, options: ExportOptions = ExportOptions(),
        _ body: @escaping @Sendable (JSONValue) throws -> Void
    ) async throws {
        try await reading { db in
            try self.exportEach(
                entity, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options, in: db, body
            )
        }
    }

    /// Gives the rows of an entity as JSON one by one, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func exportEach(
        _ entity: String, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil, offset: Int = 0, options: ExportOptions = ExportOptions(), in db: Database,
        _ body: (JSONValue) throws -> Void
    ) throws {
        let entity = try model.compiled.entity(named: entity)
        let (select, rest, arguments) = try selection(
            of: entity, where: predicate, orderedBy: order, limit: limit, offset: offset)
        let reader = try ExportReader(db, layout)
        var exporter = RecordExporter(model: model, options: options, source: reader)
        try reader.forEachRow(select, rest, arguments) { row in
            try body(exporter.record(row, of: entity))
        }
    }

    /// What is asked of the database for rows of an entity.
    func selection(
        of entity: CompiledEntity, where predicate: RecordPredicate, orderedBy order: RecordOrder, limit: Int?,
        offset: Int = 0
    ) throws -> (select: RecordSQL, rest: String, arguments: StatementArguments) {
        let select = RecordSQL(entity, layout)
        let (condition, arguments) = try condition(predicate, select)
        let rest =
            "FROM \(select.from)\(condition) ORDER BY \(try select.order(order))" + RecordSQL.window(limit, offset)
        return (select, rest, arguments)
    }
}
