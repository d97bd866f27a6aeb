import Foundation
import SyncCore

/// The records of a sample, as plain ones whatever form it has, each with its entity.
struct SampleRecords {
    /// A record as it is to be looked at.
    struct Record {
        var entity: String
        var value: JSONValue
        /// The index of its list.
        var list: Int
        /// Whether it is all there is, in no array.
        var isLone: Bool
        /// Where there are lists inside it, if it is that.
        var listPaths: [[String]] = []
    }

    let sample: InferenceSample
    private let form: JSONReader.Form
    /// The entities of its lists.
    let lists: [String]
    private let keyPath: [String]

    /// - Throws: ``SyncError`` `invalidOption` for a form that contradicts itself.
    init(_ sample: InferenceSample) throws {
        self.sample = sample
        var options = SyncOptions()
        options.form = sample.form
        options.keyPath = sample.keyPath
        options.keyedBy = sample.keyedBy
        options.entities = sample.entities.sorted { $0.key < $1.key }
            .map { PayloadEntity(path: $0.key, entity: $0.value) }
        try options.checkLayout()
        if !options.entities.isEmpty {
            let paths = options.entities.map { sample.keyPath + $0.path }
            form = .places(.lists(at: paths, labels: paths.map { $0.joined(separator: ".") }))
            lists = options.entities.map(\.entity)
        } else {
            lists = [sample.entity]
            switch sample.form {
            case _ where sample.keyedBy != nil: form = .places(.members(at: sample.keyPath))
            case .json: form = .json
            case .ndjson: form = .ndjson
            case .jsonAPI: form = .places(.jsonAPI)
            case .graphQL: form = .places(.graphQL(at: sample.keyPath))
            }
        }
        if case .places = form { keyPath = [] } else { keyPath = sample.keyPath }
    }

    /// Reads them one by one.
    func forEach(_ body: (Record) throws -> Void) throws {
        guard let piece = try piece() else { return }
        try piece.bytes.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            var reader = JSONReader(form: form, keyPath: keyPath)
            reader.read(bytes, at: piece.place, isLast: piece.isLast)
            var tape = JSONTape()
            while try reader.next(into: &tape) {
                try body(record(&reader, tape, bytes))
            }
        }
    }

    private func record(_ reader: inout JSONReader, _ tape: JSONTape, _ bytes: UnsafeBufferPointer<UInt8>) -> Record {
        var value = tape.value(at: reader.recordToken, in: bytes)
        let list = reader.walk.list
        let entity = lists.indices.contains(list) ? lists[list] : sample.entity
        if sample.form == .graphQL { value = value.withoutConnections }
        if let key = sample.nameKey, reader.nameToken >= 0, value[key] == nil, case .object(let members) = value {
            value = .object([.init(key, .string(tape.text(at: reader.nameToken, in: bytes)))] + members)
        }
        if let pruning = sample.prunings[entity] { value = pruning.pruned(value) }
        var record = Record(entity: entity, value: value, list: list, isLone: reader.isLoneObject)
        guard record.isLone else { return record }
        if form == .json { record.listPaths = tape.listPaths(in: bytes).map { sample.keyPath + $0 } }
        if sample.form == .graphQL {
            record.listPaths = PlaceWalk.fields(tape.listPaths(in: bytes)).map { reader.walk.fieldPath + $0 }
        }
        return record
    }

    /// All of a sample, or the whole records in its first bytes; nil if there are none in these.
    private func piece() throws -> JSONPiece? {
        guard let size = sample.size, size < sample.json.count else {
            return JSONPiece(bytes: sample.json, place: .init(), isLast: true)
        }
        var splitter = RecordSplitter(form: form, keyPath: keyPath, pieceSize: size)
        return try sample.json.withUnsafeBytes { bytes in
            var start = bytes[..<max(1, size)]
            return try splitter.next(from: &start)
        }
    }
}

extension JSONValue {
    /// The value with the records of its connections in their place, and without what a GraphQL service says of types.
    var withoutConnections: JSONValue {
        switch self {
        case .array(let elements): return .array(elements.map(\.withoutConnections))
        case .object(let members):
            if let records = connectedRecords { return .array(records.map(\.withoutConnections)) }
            return .object(
                members.filter { $0.key != "__typename" }.map { .init($0.key, $0.value.withoutConnections) })
        default: return self
        }
    }

    /// The records of a connection; nil if the value is none. What the mapper takes for one, but for an object with an id:
    /// that is a record, which may have a list called so.
    private var connectedRecords: [JSONValue]? {
        if self["id"] != nil { return nil }
        let nodes = self["nodes"]
        guard case .array(let elements)? = nodes ?? self["edges"] else { return nil }
        for element in elements where element != .null {
            guard case .object = element else { return nil }
        }
        return nodes != nil ? elements : elements.map { $0["node"] ?? $0 }
    }
}
