/// The path from the root of the payload to the value that is being mapped. It is stored as numbers until text is
/// needed.
package struct PayloadPath {
    package enum Step {
        case index(Int)
        /// A key, as the place of its text in the payload, with the table of the object that contains it.
        case key(offset: Int, length: Int, table: Int = -1)
        /// The key of a member that is a record, as the place of its text.
        case name(offset: Int, length: Int)
        /// A record of a connection, in `nodes` or in the `node` of one of its `edges`.
        case connected(Int, isEdge: Bool)
    }

    /// The place of a root record that is not an element of a plain payload.
    package struct Root {
        /// The number of the list, whose label begins the path.
        var list: Int
        var index: Int
        /// The place of the member's key, if the path has it instead of the index.
        var nameOffset = 0
        var nameLength = -1
    }

    private(set) var steps: [Step] = []
    /// The index of the root record in the payload, or in the chunk that is being mapped.
    private(set) var rootIndex = 0
    /// The first part of the paths of each list's records, and the place of the root record; nil if it is an element.
    package var labels: [String] = []
    package var root: Root?
    /// The number of root records in the chunks before this one.
    var firstRecord = 0

    package init() {}

    package mutating func push(_ step: Step) { steps.append(step) }
    package mutating func pop() { steps.removeLast() }
    package mutating func reset(to record: Int) {
        steps.removeAll(keepingCapacity: true)
        rootIndex = record
    }

    /// The place of the record in the record that contains it: a key, and an index if it is in a list.
    var location: PayloadGraph.RecordOccurrence.Location {
        switch (steps.last, steps.dropLast().last) {
        case (.index(let index), .key(let offset, let length, let table)):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: Int32(index))
        case (.key(let offset, let length, let table), _):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: -1)
        case (.connected(let index, _), .key(let offset, let length, let table)):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: Int32(index))
        case (.name(let offset, let length), _):
            .init(
                offset: offset, length: Int32(length), table: PayloadGraph.RecordOccurrence.Location.nameTable,
                index: -1)
        default: rootLocation
        }
    }

    private var rootLocation: PayloadGraph.RecordOccurrence.Location {
        guard let root else {
            return .init(offset: 0, length: -1, table: -1, index: Int32(truncatingIfNeeded: rootIndex))
        }
        return .init(
            offset: root.nameOffset, length: -2 - Int32(root.nameLength), table: Int32(root.list),
            index: Int32(truncatingIfNeeded: root.index))
    }

    /// Returns the path as text, such as `[3].notes[0].created_at`.
    package func text(_ bytes: UnsafeBufferPointer<UInt8>, _ tables: [KeyTable], adding last: Step? = nil) -> String {
        var text = root.map { rootText($0, bytes) } ?? "[\(firstRecord + rootIndex)]"
        for step in steps + (last.map { [$0] } ?? []) {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .name(let offset, let length): text += Self.nameText(offset, length, bytes)
            case .connected(let index, let isEdge): text += isEdge ? ".edges[\(index)].node" : ".nodes[\(index)]"
            case .key(let offset, let length, let table):
                let prefix = table < 0 ? [] : tables[table].path
                let key = String(decoding: bytes[offset..<offset + length], as: UTF8.self)
                text += "." + (prefix + [key]).joined(separator: ".")
            }
        }
        return text
    }

    private func rootText(_ root: Root, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let label = labels.indices.contains(root.list) ? labels[root.list] : ""
        guard root.nameLength >= 0 else { return "\(label)[\(root.index)]" }
        return label + Self.nameText(root.nameOffset, root.nameLength, bytes)
    }

    /// Returns the step to a member, such as `["AD"]`.
    private static func nameText(_ offset: Int, _ length: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        "[\"" + String(decoding: bytes[offset..<offset + length], as: UTF8.self) + "\"]"
    }

    /// Returns the path for an insert hook, which replaces the record there.
    func recordPath(_ bytes: UnsafeBufferPointer<UInt8>, _ tables: [KeyTable]) -> RecordPath {
        var path = RecordPath(root: rootIndex, steps: [])
        for step in steps {
            switch step {
            case .index(let index): path.steps.append(.index(index))
            case .name(let offset, let length): path.steps.append(.key(Self.key(offset, length, bytes)))
            case .connected(let index, let isEdge):
                path.steps += [.key(isEdge ? "edges" : "nodes"), .index(index)] + (isEdge ? [.key("node")] : [])
            case .key(let offset, let length, let table):
                if table >= 0 { path.steps += tables[table].path.map(RecordPath.Step.key) }
                path.steps.append(.key(Self.key(offset, length, bytes)))
            }
        }
        return path
    }

    private static func key(_ offset: Int, _ length: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: bytes[offset..<offset + length], as: UTF8.self)
    }
}

// MARK: - Places

extension PayloadPath.Step {
    /// Creates the step to an element of a list, or to a member by its key.
    package init(_ layout: ListLayout, _ tape: JSONTape, at place: Int, _ index: Int) {
        self =
            switch layout {
            case .array: .index(index)
            case .members: .name(offset: tape.tokens[place].offset, length: Int(tape.tokens[place].length))
            case .nodes: .connected(index, isEdge: false)
            case .edges: .connected(index, isEdge: true)
            }
    }
}

extension PayloadPath.Root {
    package init(_ place: PayloadMapper.TokenLocation, _ tape: JSONTape) {
        self.init(list: place.list, index: place.index)
        guard place.name >= 0 else { return }
        nameOffset = tape.tokens[place.name].offset
        nameLength = Int(tape.tokens[place.name].length)
    }
}
