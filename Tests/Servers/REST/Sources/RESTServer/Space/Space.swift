/// An independent service: its rows, its settings and its log.
///
/// A call runs without suspension, so calls to one space never interleave.
actor Space {
    /// The settings.
    var settings = Settings()
    /// The faults.
    var faults = FaultPlan()
    /// The log of requests, without those whose path begins with `_`.
    var log: [LogEntry] = []
    /// The rows by the name of their collection.
    var collections: [String: Rows] = [:]
    /// The answers of POST requests, by collection and idempotency key.
    var answered: [[String]: JSON] = [:]
    /// The type of each field by class and name, in the dialect of Parse.
    var parseTypes: [[String]: String] = [:]
    /// The IDs of relations by class, object and field.
    var parseRelations: [[String]: [String]] = [:]
    /// The files by name, in the dialect of Parse.
    var parseFiles: [String: ParseFile] = [:]
    /// The clock of the changes.
    var clock = Clock()
    private var lastObjectID = 0

    /// Handles a call, or applies the fault of its turn.
    func answer(_ call: Call) -> Ending {
        if call.isControl { return .answer(attempt { () throws(Refusal) in try control(call) }) }
        let ending = outcome(of: call, with: faults.next())
        log.append(LogEntry(call, ending))
        return ending
    }

    /// Returns the ending of a call, with its fault if there is one.
    private func outcome(of call: Call, with fault: Fault?) -> Ending {
        guard let fault else { return .answer(carryOut(call)) }
        if let answer = fault.answer { return .answer(answer) }
        switch fault.kind {
        case .dropBefore: return .drop
        case .stall: return .stall
        case .cut: return .cut(carryOut(call))
        default:
            _ = carryOut(call)
            return .drop
        }
    }

    /// Handles a call without a fault.
    private func carryOut(_ call: Call) -> Answer {
        attempt { () throws(Refusal) in
            if let token = settings.token, call.header("Authorization") != "Bearer \(token)" {
                var refusal = Refusal(401, "the token is missing or wrong")
                refusal.headers = ["WWW-Authenticate": "Bearer"]
                throw refusal
            }
            return switch settings.dialect {
            case .rest: try route(call)
            case .parse: try routeParse(call)
            case .changes: try routeChanges(call)
            }
        }
    }

    /// Returns the answer of a closure, or of its rejection.
    private func attempt(_ work: () throws(Refusal) -> Answer) -> Answer {
        do {
            return try work()
        } catch {
            return error.answer
        }
    }

    /// Returns a number for a new object of any class.
    func nextObjectID() -> Int {
        lastObjectID += 1
        return lastObjectID
    }

    /// Returns the time of the next change.
    func tick() -> Int { clock.tick(coarse: settings.coarseTimes) }
}
