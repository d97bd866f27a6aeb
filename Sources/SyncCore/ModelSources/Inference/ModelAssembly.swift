/// Makes a model of inferred entities: names, keys, inverses.
struct ModelAssembly {
    private(set) var model: Model
    private(set) var remarks: [InferenceRemark]
    private(set) var origins: [InferredOrigin]

    /// - Parameter links: Entity names without regard to case → the entity meant.
    init(_ found: [InferredEntity], links: [String: String]) throws {
        let byName = Dictionary(found.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let spelling = InferredSpelling(of: found)
        var drafts = found.map { entity in
            EntityDraft(entity, spelling) { name in
                links[InferredNames.entity(name, isList: false).lowercased()].flatMap { byName[$0] }
            }
        }
        InferredInverses.complete(&drafts)
        while true {
            let model = try Model(entities: drafts.map(\.entity), keys: spelling.ofModel)
            var isSettled = true
            for index in drafts.indices where try drafts[index].settleNames(in: model) { isSettled = false }
            guard isSettled else { continue }
            self.model = model
            break
        }
        origins = drafts.flatMap(\.origins)
        let rule = spelling.ofModel.map { InferenceRemark("keys", "spelled in \($0.word)") }
        remarks = [rule].compactMap(\.self) + drafts.sorted { $0.entity.name < $1.entity.name }.flatMap(\.remarks)
    }
}
