import SyncTesting

/// Faults that a seed decides.
struct SeededFaults: Sendable {
    private let seed: UInt64
    private let latest: UInt64
    private let isTimely: Bool

    /// - Parameters:
    ///   - latest: The number of requests after which a late request is carried out at most.
    ///   - isTimely: Whether no request is carried out late.
    init(_ seed: UInt64, latest: UInt64, isTimely: Bool = false) {
        (self.seed, self.latest, self.isTimely) = (seed, latest, isTimely)
    }

    func fault(_ number: Int) -> InMemoryService.Fault? {
        var random = SeededNumbers(state: seed &* 31 &+ UInt64(number) &* 7919)
        _ = random.next()
        switch random.next() % 12 {
        case 0: return .failsBeforeApply
        case 1: return .failsAfterApply
        case 2: return .busy
        case 3: return isTimely ? nil : .appliesLate(Int(random.next() % latest))
        default: return nil
        }
    }
}

/// The SplitMix64 generator.
struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
