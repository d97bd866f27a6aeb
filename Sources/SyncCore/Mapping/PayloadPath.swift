/// The way from the root of the payload to the value being mapped, kept as numbers until somebody asks for text.
struct PayloadPath {
    enum Step {
        case index(Int)
        /// A key, by the place of its text in the payload, and the table of the object that has it: dotted remote keys
        /// lead there.
        case key(offset: Int, length: Int, table: Int = -1)
    }

    private(set) var steps: [Step] = []
    /// The root record, among those of the payload, or of the piece of it that is mapped.
    private(set) var rootIndex = 0
    /// How many root records are in the pieces before.
    var firstRecord = 0

    mutating func push(_ step: Step) { steps.append(step) }
    mutating func pop() { steps.removeLast() }
    mutating func reset(to record: Int) {
        steps.removeAll(keepingCapacity: true)
        rootIndex = record
    }

    /// How the record being mapped is reached from the one around it: under a key, perhaps in a list.
    var mark: ChangePlan.Mention.Mark {
        switch (steps.last, steps.dropLast().last) {
        case (.index(let index), .key(let offset, let length, let table)):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: Int32(index))
        case (.key(let offset, let length, let table), _):
            .init(offset: offset, length: Int32(length), table: Int32(table), index: -1)
        default: .init(offset: 0, length: -1, table: -1, index: Int32(truncatingIfNeeded: rootIndex))
        }
    }

    /// `[3].notes[0].created_at`
    func text(_ bytes: UnsafeBufferPointer<UInt8>, _ tables: [KeyTable], adding last: Step? = nil) -> String {
        var text = "[\(firstRecord + rootIndex)]"
        for step in steps + (last.map { [$0] } ?? []) {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let offset, let length, let table):
                let prefix = table < 0 ? [] : tables[table].path
                let key = String(decoding: bytes[offset..<offset + length], as: UTF8.self)
                text += "." + (prefix + [key]).joined(separator: ".")
            }
        }
        return text
    }

    /// The same way for a hook that rewrites the record there.
    func recordPath(_ bytes: UnsafeBufferPointer<UInt8>, _ tables: [KeyTable]) -> RecordPath {
        var path = RecordPath(root: rootIndex, steps: [])
        for step in steps {
            switch step {
            case .index(let index): path.steps.append(.index(index))
            case .key(let offset, let length, let table):
                if table >= 0 { path.steps += tables[table].path.map(RecordPath.Step.key) }
                path.steps.append(.key(String(decoding: bytes[offset..<offset + length], as: UTF8.self)))
            }
        }
        return path
    }
}
