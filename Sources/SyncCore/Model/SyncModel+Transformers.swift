extension SyncModel {
    /// A transformer that the model names and nobody registered.
    public struct MissingTransformer: Sendable, Hashable {
        /// The entity that declares the attribute.
        public var entity: String
        /// The attribute whose values it is for.
        public var attribute: String
        /// Its name.
        public var name: String
    }

    /// The transformers that attributes name, without those that are registered or built in, in the order of the model.
    public var missingTransformers: [MissingTransformer] {
        entities.flatMap { entity in
            entity.attributes.flatMap { attribute in
                attribute.transformers.filter { transformer(named: $0) == nil }
                    .map { MissingTransformer(entity: entity.name, attribute: attribute.name, name: $0) }
            }
        }
    }

    /// Refuses a model that names transformers which nobody registered: values would be stored that are not meant.
    ///
    /// - Throws: ``SyncError`` `missingTransformer` with each attribute's place.
    package func requireTransformers() throws {
        let missing = missingTransformers
        guard !missing.isEmpty else { return }
        let names = missing.map(\.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let problems = missing.map { missing in
            SyncError.Problem(
                path: ModelPath.attribute(missing.attribute, of: missing.entity)["transformer"].text,
                message: "no transformer '\(missing.name)' is registered")
        }
        throw SyncError(
            .missingTransformer,
            "the model names transformers that are not registered: \(ShortList(names.map { "'\($0)'" }).text)",
            problems: problems)
    }

    /// The transformer of a name: registered, else built in.
    package func transformer(named name: String) -> AttributeTransformer? {
        transformers[name] ?? BuiltInTransformer(rawValue: name)?.transformer
    }

    /// What is done with an attribute's values instead of the coercion table; nil for nothing.
    package func conversion(of attribute: SyncModel.Attribute) -> ValueConversion? {
        if attribute.transformers.isEmpty, attribute.format == nil { return nil }
        return ValueConversion(
            attribute.transformers.compactMap(transformer(named:)), attribute.format, as: attribute.type)
    }

    /// What is done with an attribute's values that come in: the same, and what the Swift type has room for.
    func mappingConversion(of attribute: SyncModel.Attribute, check: ValueCheck?) -> ValueConversion? {
        guard let check else { return conversion(of: attribute) }
        return ValueConversion(
            attribute.transformers.compactMap(transformer(named:)), attribute.format, as: attribute.type,
            check: attribute.type == .transformable ? nil : check)
    }
}
