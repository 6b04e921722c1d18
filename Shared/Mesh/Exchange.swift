/// Stores `value` in `place` and returns the previous value.
func exchange<Value>(_ place: inout Value, with value: consuming Value) -> Value {
    let old = place
    place = value
    return old
}
