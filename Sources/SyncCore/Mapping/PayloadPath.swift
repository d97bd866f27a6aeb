/// The way from the root of the payload to the value being mapped, kept as numbers until somebody asks for text.
struct PayloadPath {
    enum Step {
        case index(Int)
        /// A key, by the place of its text in the payload.
        case key(offset: Int, length: Int)
        /// A key that dotted remote keys lead through.
        case name(String)
    }

    private var steps: [Step] = []
    /// Whether the root is an object that stands for an array of one.
    var rootIndex = 0

    mutating func push(_ step: Step) { steps.append(step) }
    mutating func pop() { steps.removeLast() }
    var depth: Int { steps.count }
    mutating func pop(to depth: Int) { steps.removeLast(steps.count - depth) }
    mutating func reset(to record: Int) {
        steps.removeAll(keepingCapacity: true)
        rootIndex = record
    }

    func place(_ bytes: UnsafeBufferPointer<UInt8>) -> RecordPlace {
        RecordPlace(
            root: rootIndex,
            steps: steps.map { step in
                switch step {
                case .index(let index): .index(index)
                case .name(let name): .key(name)
                case .key(let offset, let length):
                    .key(String(decoding: bytes[offset..<offset + length], as: UTF8.self))
                }
            })
    }

    /// `[3].notes[0].created_at`
    func text(_ bytes: UnsafeBufferPointer<UInt8>, adding last: Step? = nil) -> String {
        var text = "[\(rootIndex)]"
        for step in steps + (last.map { [$0] } ?? []) {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .name(let name): text += ".\(name)"
            case .key(let offset, let length):
                text += "." + String(decoding: bytes[offset..<offset + length], as: UTF8.self)
            }
        }
        return text
    }
}
