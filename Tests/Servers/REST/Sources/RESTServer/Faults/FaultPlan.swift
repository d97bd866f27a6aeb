/// The faults of a space, and the number of requests since they were set.
struct FaultPlan: Sendable {
    /// The faults in the given order.
    private var faults: [Fault] = []
    /// The number of requests.
    private var count = 0

    /// Creates a plan without faults.
    init() {}

    /// Reads a list of faults. If two apply to a request, the first one is used.
    init(_ json: JSON) throws(Refusal) {
        guard let elements = json.elements else { throw Refusal(400, "faults are a list") }
        for element in elements { faults.append(try Fault(element)) }
    }

    /// Counts a request, and returns its fault; nil if there is none.
    mutating func next() -> Fault? {
        count += 1
        return faults.first { $0.concerns(count) }
    }
}
