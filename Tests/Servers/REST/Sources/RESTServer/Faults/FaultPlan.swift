/// The faults of a space, and how many requests it has had since they were set.
struct FaultPlan: Sendable {
    /// In the order in which they were given.
    private var faults: [Fault] = []
    /// The requests since then.
    private var count = 0

    /// A plan without faults.
    init() {}

    /// Reads a list of faults. Where two concern the same request, the first one counts.
    init(_ json: JSON) throws(Refusal) {
        guard let elements = json.elements else { throw Refusal(400, "faults are a list") }
        for element in elements { faults.append(try Fault(element)) }
    }

    /// Counts a request, and says what goes wrong with it.
    mutating func next() -> Fault? {
        count += 1
        return faults.first { $0.concerns(count) }
    }
}
