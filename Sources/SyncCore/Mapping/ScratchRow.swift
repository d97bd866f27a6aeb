/// The attribute values of the record being read, one slot each, and the strength of the name each came from.
///
/// An array would ask at each value whether it is shared; this cannot be, because it cannot be copied. Access is checked
/// against the row's width.
struct ScratchRow: ~Copyable {
    private let slots: UnsafeMutablePointer<Slot>
    private let strengths: UnsafeMutablePointer<UInt8>
    private let width: Int

    /// - Parameter width: The most attributes a record can have.
    init(width: Int) {
        self.width = width
        slots = .allocate(capacity: width)
        strengths = .allocate(capacity: width)
        reset(width)
    }

    deinit {
        slots.deallocate()
        strengths.deallocate()
    }

    /// Forgets the first `count` values.
    @inline(__always)
    mutating func reset(_ count: Int) {
        precondition(count <= width)
        slots.initialize(repeating: .absent, count: count)
        strengths.initialize(repeating: .max, count: count)
    }

    @inline(__always)
    subscript(slot: Int) -> Slot {
        get {
            precondition(slot >= 0 && slot < width)
            return slots[slot]
        }
        set {
            precondition(slot >= 0 && slot < width)
            slots[slot] = newValue
        }
    }

    /// Whether a name of this strength may fill a slot: it is no weaker than the one that has. If so, it has from now on.
    @inline(__always)
    mutating func admits(_ strength: UInt8, in slot: Int) -> Bool {
        precondition(slot >= 0 && slot < width)
        if strength > strengths[slot] { return false }
        strengths[slot] = strength
        return true
    }

    func first(_ count: Int) -> UnsafeBufferPointer<Slot> {
        precondition(count <= width)
        return UnsafeBufferPointer(start: slots, count: count)
    }
}
