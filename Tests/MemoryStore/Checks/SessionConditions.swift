import SyncCore

/// The conditions under which sessions run (``CheckedSession``), and the operations that they ran.
package final class SessionConditions: Sendable {
    private struct State: Sendable {
        var operations: [String] = []
        var failing: Int?
        var generator: SeededGenerator?
    }

    private let state: Locked<State>

    /// - Parameter seed: The seed by which answers without a promised order are shuffled; nil to leave their order.
    package init(shuffling seed: UInt64? = nil) {
        state = Locked(State(generator: seed.map(SeededGenerator.init)))
    }

    /// The names of the operations since the last ``removeOperations()``.
    package var operations: [String] { state.value.operations }

    /// Returns the operations so far, and starts to count again.
    @discardableResult
    package func removeOperations() -> [String] {
        state.withLock { state in
            defer { state.operations = [] }
            return state.operations
        }
    }

    /// Makes one operation fail with a ``MemoryWriter/SerializationFailure``: the operation with an index, counted from
    /// the last ``removeOperations()``. Later operations succeed, also those of the repeated transaction.
    package func fail(at operation: Int) { state.withLock { $0.failing = operation } }

    /// Whether the operation of ``fail(at:)`` has not run yet.
    package var isFailurePending: Bool { state.value.failing != nil }

    var shuffles: Bool { state.value.generator != nil }

    func record(_ operation: String) throws {
        let fails = state.withLock { state in
            defer { state.operations.append(operation) }
            guard state.failing == state.operations.count else { return false }
            state.failing = nil
            return true
        }
        if fails { throw MemoryWriter.SerializationFailure() }
    }

    /// Returns elements in another order; in the same order if the conditions have no seed.
    func shuffled<Element>(_ elements: [Element]) -> [Element] {
        state.withLock { state in
            guard var generator = state.generator else { return elements }
            defer { state.generator = generator }
            return elements.shuffled(using: &generator)
        }
    }
}

/// A generator of random numbers that depend only on its seed (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
