import Foundation

/// What was seen of the objects in one place of the samples. A class: places nest, and are added to while reading.
final class ObservedObject {
    /// How many objects there were.
    private(set) var count = 0
    /// The keys in the order they were first seen.
    private(set) var keys: [String] = []
    private(set) var members: [String: ObservedValue] = [:]
    /// The scalars of objects that have an id, by its text: to see whether two places hold the same things.
    private(set) var scalarsByID: [String: [String: JSONValue]] = [:]

    /// Where there are lists inside a sample that is one object without an id.
    private(set) var listPaths: [[String]] = []

    /// So many objects are enough to compare two places by.
    private static let maximumCompared = 10_000

    func observe(_ sample: InferenceSample) throws {
        guard sample.form != .ndjson || sample.keyPath.isEmpty else {
            throw SyncError(.invalidOption, "a key path is given, but NDJSON has a record on each line")
        }
        let form = try JSONReader.Form(sample)
        guard let piece = try Self.piece(of: sample, form) else { return }
        try piece.bytes.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            var reader = JSONReader(form: form, keyPath: sample.keyPath)
            reader.read(bytes, at: piece.place, isLast: piece.isLast)
            var tape = JSONTape()
            while try reader.next(into: &tape) {
                let record = tape.value(at: reader.recordToken, in: bytes)
                let object = sample.pruning?.pruned(record) ?? record
                observe(object, primaryKey: sample.primaryKey)
                guard reader.isLoneObject, Self.id(of: object, sample.primaryKey) == nil else { continue }
                listPaths += tape.listPaths(in: bytes).map { sample.keyPath + $0 }
            }
        }
    }

    /// All of a sample, or the whole records in its first bytes; nil if there are none in these.
    private static func piece(of sample: InferenceSample, _ form: JSONReader.Form) throws -> JSONPiece? {
        guard let size = sample.size, size < sample.json.count else {
            return JSONPiece(bytes: sample.json, place: .init(), isLast: true)
        }
        var splitter = RecordSplitter(form: form, keyPath: sample.keyPath, pieceSize: size)
        return try sample.json.withUnsafeBytes { bytes in
            var start = bytes[..<max(1, size)]
            return try splitter.next(from: &start)
        }
    }

    /// - Parameter primaryKey: The JSON key that identifies the object, if it is not `id`.
    func observe(_ object: JSONValue, primaryKey: String? = nil) {
        guard case .object(let found) = object else { return }
        count += 1
        let id = Self.id(of: object, primaryKey)
        for member in found { observed(member.key).observe(member.value, ownedBy: id) }
        guard let id, scalarsByID.count < Self.maximumCompared else { return }
        for member in found where member.value.isScalar { scalarsByID[id, default: [:]][member.key] = member.value }
    }

    private func observed(_ key: String) -> ObservedValue {
        if let known = members[key] { return known }
        let value = ObservedValue()
        keys.append(key)
        members[key] = value
        return value
    }

    /// Adds what was seen elsewhere, without what is nested there.
    func merge(_ other: ObservedObject) {
        count += other.count
        listPaths += other.listPaths
        for key in other.keys {
            if let value = other.members[key] { observed(key).merge(value) }
        }
        scalarsByID.merge(other.scalarsByID) { $0.merging($1) { _, later in later } }
    }

    /// The text of an object's id.
    static func id(of object: JSONValue, _ primaryKey: String? = nil) -> String? {
        for key in primaryKey.map({ [$0] }) ?? idKeys {
            switch object[key] {
            case .number(let text), .string(let text): return text
            default: break
            }
        }
        return nil
    }

    /// What an id is called where nobody says otherwise.
    static let idKeys = ["id", "_id", "Id", "ID"]
}

extension JSONValue {
    fileprivate var isScalar: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }
}
