/// A name with its prefix.
struct QualifiedName {
    var text: String
    var undeclaresDefaultNamespace = false
    var isOutsideDefaultNamespace = false
}
