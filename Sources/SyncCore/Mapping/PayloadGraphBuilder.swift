package import Foundation

/// A builder that maps a payload to a ``PayloadGraph``. This type is the entry point of mapping.
package struct PayloadGraphBuilder: Sendable {
    /// The number of records in the sample from which the size of the whole graph is estimated.
    private static let sampleSize = 4096

    /// The graph without records, with which each mapping starts.
    private var base: PayloadGraph
    private var options: SyncOptions
    private let tables: MappingTables
    /// The primary key of the only record, if the caller states it; otherwise nil.
    private var rootKey: PackedValue?
    let model: SyncModel
    /// The locations of the records in the payload.
    let layout: PayloadLayout
    private var keyPath: [String] { layout.keyPath }
    /// The rows with inconsistent records, for a second mapping that finds the paths of those records; nil for the
    /// first mapping.
    private var watched: Set<PayloadGraph.RowReference>?
    /// The location of each record, if an insert hook makes the builder map JSON values; empty in a plain payload
    /// (``PayloadLayout/isPlain``).
    private var locations: [RecordLocation] = []

    /// Creates a builder after checking the entity, the parent and the options.
    ///
    /// - Parameter capabilities: The values that the store can keep. Other values are like values of the wrong type.
    /// - Throws: ``SyncError`` `unknownEntity`, `abstractEntity`, `keylessEntity`, `unknownRelationship`,
    ///   `ambiguousRelationship`, `unknownAttribute`, `invalidOption`, or `typeMismatch` if the parent's ID has the
    ///   wrong type.
    package init(
        inEntity name: String, of model: SyncModel, parent: SyncParent?, operations: SyncOperations,
        options: SyncOptions, keeping capabilities: StoreCapabilities = .unlimited
    ) throws {
        try options.checkNumbers()
        let compiled = model.compiled
        let entity = try compiled.entity(named: name)
        let layout = try PayloadLayout(options, of: entity, in: compiled)
        let isKindless = compiled.discriminator(of: entity.id) == nil
        for list in layout.lists where layout.lists.count > 1 && list.root >= 0 {
            let entity = compiled.entities[list.entity]
            guard entity.isKeyed || !isKindless else { throw Self.keyless(entity.name) }
        }
        guard !entity.isAbstract || !isKindless || layout.types != nil else {
            throw SyncError(.abstractEntity, "'\(name)' is abstract; sync one of its subentities", entity: name)
        }
        guard entity.isKeyed || !isKindless else {
            throw Self.keyless(name)
        }
        var graph = PayloadGraph(model: compiled, entity: entity.id, operations: operations, payload: Data())
        graph.isComplete = options.payloadKind.isSnapshot
        if !options.entities.isEmpty {
            guard parent == nil else {
                throw SyncError(.invalidOption, "a payload of several entities cannot have a parent", entity: name)
            }
            graph.roots = layout.lists.map { PayloadGraph.RootList(entity: $0.entity) }
        }
        if !layout.isPlain { graph.labels = layout.lists.map(\.label) }
        if let parent {
            try graph.setParent(
                ParentLink(of: entity, parent: parent.entity, relationship: parent.relationship, compiled),
                id: parent.id, keeping: capabilities)
        }
        base = graph
        self.options = options
        tables = MappingTables(model, checking: options.types, keeping: capabilities)
        self.model = model
        self.layout = layout
    }

    private static func keyless(_ name: String) -> SyncError {
        SyncError(
            .keylessEntity, "'\(name)' has no primary key; sync its rows as part of their owners", entity: name)
    }

    private func mapper() -> PayloadMapper {
        var mapper = PayloadMapper(
            base, options: options, tables, layout: layout, watch: watched.map(InconsistentRecordFinder.init))
        mapper.rootKey = rootKey
        return mapper
    }

    /// Maps a payload of bytes: strict JSON, or one record on each line.
    ///
    /// - Throws: ``SyncError`` for invalid JSON, with line and column; `noRecords` if the payload is empty, or has root
    ///   records but none with a readable key.
    package consuming func map(_ data: Data, options: SyncOptions) throws -> MappedPayload {
        try options.checkKeyPath()
        return try data.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            var reader = layout.reader(bytes)
            do {
                return try map(data, bytes, &reader, from: 0).requiringRecords(of: model, options)
            } catch let error as SyncError {
                throw recognized(error, PayloadPrefix(bytes))
            }
        }
    }

    /// Maps a payload of bytes, or a chunk of such a payload. The reader must be at the start of the bytes.
    ///
    /// - Parameter firstRecord: The number of records in the chunks before this one.
    func map(
        _ data: Data, _ bytes: UnsafeBufferPointer<UInt8>, _ reader: inout JSONReader, from firstRecord: Int
    ) throws -> MappedPayload {
        guard options.listsInconsistentRecords || options.isStrict, options.willInsert == nil else {
            return try mapOnce(data, bytes, &reader, from: firstRecord)
        }
        let start = reader
        let graph = try mapOnce(data, bytes, &reader, from: firstRecord).graph
        return MappedPayload(
            try explaining(graph) {
                var reader = start
                return try $0.mapOnce(data, bytes, &reader, from: firstRecord).graph
            })
    }

    private func mapOnce(
        _ data: Data, _ bytes: UnsafeBufferPointer<UInt8>, _ reader: inout JSONReader, from firstRecord: Int
    ) throws -> MappedPayload {
        var builder = self
        builder.base.firstRecord = firstRecord
        if options.willInsert != nil {
            let records = try builder.values(&reader, bytes)
            builder.base.record(reader, options)
            return try builder.map(records)
        }
        if !layout.isPlain { return try builder.mapLists(data, bytes, &reader) }
        var mapper = builder.mapper()
        var tape = JSONTape()
        while try reader.next(into: &tape) {
            try mapper.mapRoot(tape, bytes)
            if reader.isSingleRecord { mapper.addSingleRecord(tape, bytes) }
            if mapper.graph.rootRecords == Self.sampleSize / 2 { mapper.graph.recordSizes() }
            if mapper.graph.rootRecords == Self.sampleSize, reader.position > 0 {
                mapper.graph.reserve(Double(bytes.count) / Double(reader.position) * 1.03)
            }
            if mapper.graph.rootRecords & 1023 == 0 { try mapper.notifyProgress(reader.position, of: bytes.count) }
        }
        return MappedPayload(mapper.finish(payload: data))
    }

    /// Maps a payload that is not plain (``PayloadLayout/isPlain``), or a chunk of such a payload.
    private func mapLists(
        _ data: Data, _ bytes: UnsafeBufferPointer<UInt8>, _ reader: inout JSONReader
    ) throws -> MappedPayload {
        var mapper = mapper()
        var tape = JSONTape()
        var count = 0
        if layout.hasOtherKeys {
            var scout = self.mapper()
            let start = reader
            for entities in layout.otherwiseKeyed {
                var reader = start
                while try reader.next(into: &tape) {
                    try scout.addKey(tape, at: reader.tokenLocation, of: entities, layout, bytes)
                }
            }
            mapper.reader.resources = scout.reader.resources
        }
        while try reader.next(into: &tape) {
            try mapper.mapRoot(tape, at: reader.tokenLocation, layout, bytes)
            if reader.isSingleRecord, mapper.graph.readableRootRecords == 0 {
                mapper.graph.recordLists(tape.listPaths(in: bytes), reader)
            }
            count += 1
            if count == Self.sampleSize / 2 { mapper.graph.recordSizes() }
            if count == Self.sampleSize, reader.position > 0 {
                mapper.graph.reserve(Double(bytes.count) / Double(reader.position) * 1.03)
            }
            if count & 1023 == 0 { try mapper.notifyProgress(reader.position, of: bytes.count) }
        }
        mapper.graph.record(reader, options)
        return MappedPayload(mapper.finish(payload: data))
    }

    private mutating func values(
        _ reader: inout JSONReader, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws -> [JSONValue] {
        var values: [JSONValue] = []
        var tape = JSONTape()
        while try reader.next(into: &tape) {
            values.append(tape.value(at: reader.recordToken, in: bytes))
            if layout.isPlain { continue }
            let name = reader.nameToken < 0 ? nil : tape.text(at: reader.nameToken, in: bytes)
            locations.append(RecordLocation(list: reader.list, index: reader.recordIndex, name: name))
        }
        return values
    }

    /// Maps a payload that is a JSON value.
    package consuming func map(_ value: JSONValue) throws -> MappedPayload {
        let isPlain = layout.isPlain
        if !isPlain {
            let options = options
            return try map(Data(JSONText.bytes(of: value)), options: options)
        }
        let builder = copy self
        do {
            return try map(found: records(in: value))
        } catch let error as SyncError {
            throw builder.recognized(error, value)
        }
    }

    private consuming func map(found value: JSONValue) throws -> MappedPayload {
        let (model, options) = (model, options)
        switch value {
        case .array(let records): return try map(records).requiringRecords(of: model, options)
        case .object:
            base.roots[0].isSingleRecord = true
            return try map([value]).requiringRecords(of: model, options)
        default:
            throw SyncError(
                .recordExpected, "expected an array of records",
                path: keyPath.isEmpty ? "$" : keyPath.joined(separator: "."))
        }
    }

    /// Returns the graph of a payload without records.
    package consuming func planWithoutRecords() -> PayloadGraph {
        var mapper = mapper()
        return mapper.finish(payload: Data())
    }

    /// Maps a payload of one record.
    ///
    /// - Parameter key: The primary key to use instead of the record's own; nil to use the record's own.
    ///
    /// - Throws: ``SyncError`` `recordExpected`, and the errors of mapping.
    package consuming func map(singleRecord record: JSONValue, key: RowKey? = nil) throws -> MappedPayload {
        guard case .object = record else {
            throw SyncError(.recordExpected, "expected a record (JSON object)", path: "$")
        }
        rootKey = key?.slot(model.compiled.keyType(of: base.entity), arena: &base.arena)
        return try map([record])
    }

    /// Returns the value at the key path.
    ///
    /// - Throws: ``SyncError`` `keyPathNotFound`.
    private func records(in value: JSONValue) throws -> JSONValue {
        var value = value
        for (depth, key) in keyPath.enumerated() {
            let path = depth == 0 ? "$" : keyPath[..<depth].joined(separator: ".")
            guard case .object(let members) = value else {
                if case .array = value { throw SyncError.noObject(withKey: key, at: path) }
                throw depth == 0 ? SyncError.noDocument(withKey: key) : SyncError.noObject(withKey: key, at: path)
            }
            guard let next = value[key] else { throw SyncError.noKey(key, among: members.map(\.key), at: path) }
            value = next
        }
        return value
    }

    private consuming func map(_ records: [JSONValue]) throws -> MappedPayload {
        guard let hook = options.willInsert else { return MappedPayload(try mapped(records)) }
        let isStrict = options.isStrict
        let (map, model) = (mapping(isStrict: false), model)
        let mapStrictly = isStrict ? mapping(isStrict: true) : nil
        return MappedPayload(
            try map(records),
            rewriting: InsertHookMapper(records, of: model, hook: hook, map: map, mapStrictly: mapStrictly))
    }

    private func mapping(isStrict: Bool) -> InsertHookMapper.Mapping {
        var builder = copy self
        builder.options.isStrict = isStrict
        return { [builder] records in try builder.mapped(records) }
    }

    /// Maps records without calling the insert hook.
    consuming func mapped(_ records: [JSONValue]) throws -> PayloadGraph {
        let locations = locations
        return try explainedGraph(count: records.count) { index, builder in
            guard case .object = records[index] else {
                throw SyncError(.recordExpected, "expected a record (JSON object)", path: "[\(index)]")
            }
            try builder.read(records[index])
            if locations.indices.contains(index), let name = locations[index].name { builder.add(.string, name) }
        }
    }

    /// Maps records that are dictionaries with values of the types of `JSONSerialization`, or of common Swift types.
    package consuming func map(_ records: [[String: Any]]) throws -> MappedPayload {
        if let key = keyPath.first { throw SyncError.noObject(withKey: key, at: "$") }
        guard layout.isPlain else {
            throw SyncError(
                .invalidOption,
                "'format', 'keyedBy' and lists of several entities do not apply to a list of records; pass the whole document as Data or JSONValue"
            )
        }
        let (model, options) = (model, options)
        if options.willInsert != nil {
            let values = try records.enumerated().map { try JSONValue(any: $1, path: "[\($0)]") }
            return try map(values).requiringRecords(of: model, options)
        }
        let graph = try explainedGraph(count: records.count) { index, builder in
            try builder.read(any: records[index], path: "[\(index)]")
        }
        return try MappedPayload(graph).requiringRecords(of: model, options)
    }

    private func explainedGraph(
        count: Int, _ read: (Int, inout JSONTapeBuilder) throws -> Void
    ) throws -> PayloadGraph {
        try explaining(graph(count: count, read)) { try $0.graph(count: count, read) }
    }

    /// Returns the graph with diagnostics of its inconsistent records, if the options ask for them. The payload is
    /// mapped again to find the paths of those records.
    ///
    /// - Parameter again: Maps the payload with the given builder.
    ///
    /// - Throws: ``SyncError`` `inconsistentRecords` if the sync is strict.
    private func explaining(
        _ graph: PayloadGraph, _ again: (PayloadGraphBuilder) throws -> PayloadGraph
    ) throws -> PayloadGraph {
        guard graph.inconsistentRecordCount > 0, options.listsInconsistentRecords || options.isStrict else {
            return graph
        }
        var builder = self
        builder.watched = graph.contestedRows
        builder.options.progress = nil
        let found = try again(builder).inconsistencies
        if options.isStrict, let first = found.first { throw first.error(revealing: options.includesValuesInErrors) }
        var graph = graph
        graph.add(found, revealing: options.includesValuesInErrors)
        return graph
    }

    private func graph(
        count: Int, _ read: (Int, inout JSONTapeBuilder) throws -> Void
    ) throws -> PayloadGraph {
        var mapper = mapper()
        if layout.hasOtherKeys { mapper.reader.resources = try resources(count: count, read) }
        var builder = JSONTapeBuilder()
        for index in 0..<count {
            try read(index, &builder)
            if index & 1023 == 1023 { try mapper.notifyProgress(index, of: count) }
            try builder.bytes.withUnsafeBufferPointer {
                if locations.indices.contains(index) {
                    try mapper.mapRoot(builder.tape, at: locations[index].tokenLocation(in: builder.tape), layout, $0)
                    return
                }
                try mapper.mapRoot(builder.tape, $0)
                if mapper.graph.roots[0].isSingleRecord { mapper.addSingleRecord(builder.tape, $0) }
            }
            if index + 1 == Self.sampleSize / 2 { mapper.graph.recordSizes() }
            if index + 1 == Self.sampleSize { mapper.graph.reserve(Double(count) / Double(Self.sampleSize) * 1.03) }
        }
        return mapper.finish(payload: Data(builder.bytes))
    }

    private func resources(
        count: Int, _ read: (Int, inout JSONTapeBuilder) throws -> Void
    ) throws -> DocumentResources? {
        var scout = mapper()
        var builder = JSONTapeBuilder()
        for entities in layout.otherwiseKeyed {
            for index in 0..<count where locations.indices.contains(index) {
                try read(index, &builder)
                let location = locations[index].tokenLocation(in: builder.tape)
                try builder.bytes.withUnsafeBufferPointer {
                    try scout.addKey(builder.tape, at: location, of: entities, layout, $0)
                }
            }
        }
        return scout.reader.resources
    }
}

extension PayloadGraph {
    fileprivate mutating func setParent(
        _ found: ParentLink, id: JSONValue, keeping capabilities: StoreCapabilities
    ) throws {
        let entity = found.parent
        guard let keyOwner = entity.keyOwner else {
            throw SyncError(
                .keylessEntity, "'\(entity.name)' has no primary key; it cannot be a parent", entity: entity.name)
        }
        guard let rowKey = model.rowKey(id, of: entity, keeping: capabilities) else {
            throw SyncError(
                .typeMismatch,
                "the parent's ID is not a valid key of \(entity.name), \(model.keyDescription(of: entity))",
                entity: entity.name)
        }
        let key = rowKey.slot(model.keyType(of: entity.id), arena: &arena)
        let node = arena.withUnsafeBufferPointer { arena in
            self[entity.table].node(
                forKey: key, keyOwner: keyOwner, entity: entity.id,
                TextPool(payload: UnsafeBufferPointer(start: nil, count: 0), arena: arena)
            ).node
        }
        parent = Parent(link: found.link, end: found.end, table: entity.table, node: node)
    }
}
