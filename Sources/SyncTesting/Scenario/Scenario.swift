import SyncCore

/// One case of a scenario file.
struct Scenario: Sendable {
    /// What a case does: steps on a store, or one call of a pure function.
    enum Body: Sendable {
        case steps([ScenarioStep])
        case function(ScenarioFunction)
    }

    var name: String
    /// The behaviour, in one sentence.
    var about: String
    /// The model's path, relative to the file's base folder. A case with steps has one.
    var model: String?
    /// The custom code and facilities it asks for, without their explanations.
    var needs: [String]
    /// The keys that the hook of `willInsertHook` adds to each record.
    var hook: JSONValue?
    var body: Body

    var function: ScenarioFunction? {
        guard case .function(let function) = body else { return nil }
        return function
    }
}

extension Scenario {
    init(_ value: JSONValue) throws(ScenarioError) {
        var fields = try ScenarioFields(value, of: "the case")
        name = try fields.string("name")
        about = try fields.optionalString("about") ?? ""
        // Where an older test suite had the case from; kept for readers.
        _ = try fields.optionalString("origin")
        needs = try (fields.optionalStrings("needs") ?? []).map(Self.needName)
        model = try fields.optionalString("model")
        hook = try Self.hook(&fields)
        if hook != nil, !needs.contains(ScenarioFacilities.willInsertHook) {
            throw ScenarioError("the case has a hook, but does not need '\(ScenarioFacilities.willInsertHook)'")
        }
        if fields.has("function") {
            body = .function(try ScenarioFunction(&fields, hasModel: model != nil))
        } else {
            guard model != nil else { throw ScenarioError("the case lacks the field 'model'") }
            body = .steps(try Self.steps(try fields.value("steps")))
        }
        try fields.finish()
    }

    /// The name of a need: what stands before `: `. A name may itself contain a colon.
    static func needName(_ need: String) -> String {
        guard let end = need.firstRange(of: ": ") else { return need }
        return String(need[..<end.lowerBound])
    }

    private static func hook(_ fields: inout ScenarioFields) throws(ScenarioError) -> JSONValue? {
        guard let value = fields.optional("hook") else { return nil }
        var hook = try ScenarioFields(value, of: "the hook")
        let added = try hook.object("add")
        try hook.finish()
        return added
    }

    private static func steps(_ value: JSONValue) throws(ScenarioError) -> [ScenarioStep] {
        guard case .array(let elements) = value else {
            throw ScenarioError("the field 'steps' of the case must be an array, not \(value.kindName)")
        }
        guard !elements.isEmpty else { throw ScenarioError("the case has no steps") }
        var steps: [ScenarioStep] = []
        for (index, element) in elements.enumerated() {
            do {
                steps.append(try ScenarioStep(element))
            } catch {
                throw ScenarioError(error.message, step: index + 1)
            }
        }
        return steps
    }
}
