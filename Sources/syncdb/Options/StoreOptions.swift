import Foundation
import Sync
import SyncTools

/// The database a payload goes to, and the model of a new one.
struct StoreOptions {
    let location: DatabaseOptions
    let changes: ModelOptions
    let key: KeyOptions

    /// Whether the model depends on all that the JSON has.
    var readsModelFromPayload: Bool { get throws { try changes.evolve || (changes.model == nil && !location.exists) } }

    /// What a command reads that has these payloads too.
    func inputs(with payloads: [String]) -> CommandInputs {
        CommandInputs(files: payloads + (changes.model.map { [$0] } ?? []), database: location.database)
    }

    /// The model named on the command line, if one is.
    func givenModel() throws -> SyncModel? {
        try changes.model.map { try SyncModel.file($0) }
    }

    /// The model of a database that is not there yet: the given one, or what the JSON looks like.
    func modelForNewDatabase(
        _ given: SyncModel?, inferring payloads: [Payload], as options: PayloadOptions, isQuiet: Bool
    ) throws -> ChosenModel {
        if let model = given {
            return try modelForExistingDatabase(model, extendedBy: payloads, as: options, isQuiet: isQuiet)
        }
        guard options.rules.parent == nil else {
            throw UsageError("there is no database '\(location.database)' yet, so no row can be the --parent")
        }
        let samples = samples(payloads, as: options)
        let inferred = try InferredModel(from: samples)
        let model = inferred.model
        if !isQuiet {
            Terminal.writeError(Self.note(model))
            for remark in inferred.remarks where key.inferKey && remark.isAboutKey {
                Terminal.writeError("note: \(remark.description)")
            }
        }
        return ChosenModel(model: model)
    }

    /// - Parameter size: How much of each is looked at; nil for all.
    private func samples(
        _ payloads: [Payload], as options: PayloadOptions, size: Int? = nil
    ) -> [InferenceSample] {
        payloads.compactMap { payload in
            payload.data.map { data in
                var sample = InferenceSample(
                    data, entity: options.entity, form: payload.form, keyPath: options.options.keyPath, size: size,
                    name: payload.name)
                key.apply(to: &sample)
                sample.keyedBy = options.layout.names
                sample.entities = options.entities
                return sample
            }
        }
    }

    // MARK: Evolving

    /// The model of a database that is there: the given or the kept one, extended if that is asked for.
    ///
    /// - Parameter stack: The database, where it is open.
    func modelForExistingDatabase(
        _ model: SyncModel, extendedBy payloads: [Payload], as options: PayloadOptions, isQuiet: Bool,
        of stack: DataStack? = nil
    ) throws -> ChosenModel {
        guard changes.evolve else { return ChosenModel(model: model) }
        guard options.canEvolve else {
            throw UsageError("--evolve does not read JSON:API documents: give the new --model instead")
        }
        let found = try ModelExtension(of: model, by: samples(payloads, as: options)) { entity, attribute in
            // What the database does not know has no values in it.
            guard let stack,
                stack.model.entity(named: entity)?.attributes.contains(where: { $0.name == attribute }) == true
            else { return false }
            return try stack.count(entity, where: .attribute(attribute) != nil) > 0
        }
        let remarks = isQuiet ? [] : ShortList(found.remarks).lines({ "evolved: \($0)" }, hint: nil)
        return ChosenModel(model: found.model, remarks: remarks)
    }

    /// How many bytes of the JSON are looked at to say what `--evolve` would add: the rows are written, and nobody
    /// should wait for a remark.
    private static let glance = 32 << 10

    /// Says what `--evolve` would add where something of the JSON had no place.
    func suggestEvolving(
        _ model: SyncModel, after result: SyncResult, _ payloads: [Payload], as options: PayloadOptions
    ) {
        let hasMisfits = result.diagnostics.contains { $0.kind == .valueDoesNotFit }
        guard options.canEvolve, !changes.evolve, !result.unmappedKeys.isEmpty || hasMisfits,
            payloads.allSatisfy({ $0.data != nil })
        else {
            return
        }
        let size = Self.glance / max(1, payloads.count)
        let isWhole = payloads.allSatisfy { ($0.data?.count ?? 0) <= size }
        let found = try? ModelExtension(of: model, by: samples(payloads, as: options, size: size))
        let additions = found?.remarks ?? []
        guard !additions.isEmpty else {
            if !isWhole { Terminal.writeError("note: --evolve extends the model by what the JSON has beyond it") }
            return
        }
        let added = ShortList(additions.map { "\($0)" as VisibleText }).text(between: "; ")
        Terminal.writeError("note: --evolve would add \(added)" + (isWhole ? "" : ", by the first records alone"))
    }

    private static func note(_ model: SyncModel) -> VisibleText {
        "note: no --model: inferred \(ShortList(model.entities.map(\.name)).text) from the JSON; 'syncdb schema infer' says why"
    }
}
