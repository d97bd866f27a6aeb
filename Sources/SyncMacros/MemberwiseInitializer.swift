#if Macros
    import SwiftSyntax

    /// Generates the memberwise initializer of a type with `@Entity`.
    ///
    /// The initializer that the compiler would add has the storage of relationships as parameters (`_department:`), and
    /// is never public. This one takes the related rows (`department:`), and has the access of the type.
    struct MemberwiseInitializer {
        private struct Parameter {
            let text: String
            let assignments: [String]
        }

        private let entity: EntityDeclaration

        init(_ entity: EntityDeclaration) { self.entity = entity }

        /// The code; nil if the type declares an initializer, or has a stored property that the macro cannot read.
        var code: String? {
            guard !declaresInitializer, storedProperties.count == entity.stored.count else { return nil }
            let isComplete = entity.stored.allSatisfy { isAccessible($0) || hasDefault($0) }
            let included = (isComplete ? entity.stored.filter(isAccessible) : entity.stored).filter {
                !$0.isRelationship || $0.target != nil
            }
            guard included.allSatisfy({ $0.type != nil || hasDefault($0) }) else { return nil }
            // A related row overrides a key property that the type declares, so it is assigned last.
            let assigned = included.filter { !$0.isRelationship } + included.filter(\.isRelationship)
            let assignments = assigned.compactMap(parameter).flatMap(\.assignments)
            let parameters = included.compactMap(parameter).map(\.text)
            return """
                /// Creates a value. The rows of a relationship are not loaded if they are not passed.
                \(isComplete ? entity.access : "")init(\(parameters.joined(separator: ", "))) {
                \(assignments.joined(separator: "\n"))
                }
                """
        }

        private var declaresInitializer: Bool {
            entity.declaration.memberBlock.members.contains { $0.decl.is(InitializerDeclSyntax.self) }
        }

        /// The stored properties of the type that an initializer could set, also those that the macro cannot read.
        private var storedProperties: [VariableDeclSyntax] {
            entity.declaration.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }.filter {
                variable in
                !variable.modifiers.contains { $0.name.text == "static" }
                    && !variable.bindings.contains { binding in
                        EntityProperty.isComputed(binding)
                            || variable.bindingSpecifier.text == "let" && binding.initializer != nil
                    }
            }
        }

        /// Whether code that can use the type can also use the property.
        private func isAccessible(_ property: EntityProperty) -> Bool {
            let modifiers = property.variable.modifiers.filter { $0.detail == nil }.map(\.name.text)
            if modifiers.contains("private") || modifiers.contains("fileprivate") { return false }
            return entity.access.isEmpty || modifiers.contains(String(entity.access.dropLast()))
        }

        private func hasDefault(_ property: EntityProperty) -> Bool {
            property.initialValue != nil || property.isRelationship
                || property.variable.bindingSpecifier.text == "var" && isOptional(property.type)
        }

        private func isOptional(_ type: String?) -> Bool {
            type.map { $0.hasSuffix("?") || $0.hasPrefix("Optional<") || $0.hasPrefix("Swift.Optional<") } ?? false
        }

        private func parameter(_ property: EntityProperty) -> Parameter? {
            let name = property.identifier
            if let target = property.target {
                if target.isToMany {
                    return Parameter(
                        text: "\(name): [\(target.type)]? = nil",
                        assignments: ["self.\(property.storage) = SyncCore.RelatedRows(\(name))"])
                }
                let rows = "self.\(property.storage) = SyncCore.RelatedRows(\(name).map { [$0] })"
                let key = property.keyName
                if entity.names.contains(property.keyColumn) {
                    // The type declares the property with the key, so it has a parameter of its own.
                    return Parameter(
                        text: "\(name): \(target.type)? = nil",
                        assignments: [rows, "if let key = \(name)?.syncKey { self.\(key) = key }"])
                }
                return Parameter(
                    text: "\(name): \(target.type)? = nil, \(key): \(target.type).SyncKey? = nil",
                    assignments: [rows, "self.\(key) = \(name)?.syncKey ?? \(key)"])
            }
            // A property whose type is not written keeps its initial value.
            guard let type = property.type else { return nil }
            let fallback = property.initialValue.map { " = \($0.trimmedDescription)" }
            return Parameter(
                text: "\(name): \(type)\(fallback ?? (hasDefault(property) ? " = nil" : ""))",
                assignments: ["self.\(name) = \(name)"])
        }
    }
#endif
