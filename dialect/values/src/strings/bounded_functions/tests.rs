use arrow::array::StringArray;

use super::*;

fn text(text: &str) -> ColumnarValue {
    ColumnarValue::Scalar(ScalarValue::from(text))
}

fn number(number: i64) -> ColumnarValue {
    ColumnarValue::Scalar(ScalarValue::from(number))
}

fn bytes(growth: Growth, args: &[ColumnarValue], rows: usize) -> usize {
    growth.size(args, rows).unwrap().bytes
}

/// Rows and constants, the work of which is beyond one part, or only that of one row.
#[test]
fn parts_give_what_the_whole_does() {
    let long = "éab".repeat(PART / 3);
    let texts = [Some("ab".repeat(300)), None, Some(long.clone()), Some(String::new()), Some("é".to_owned())];
    let texts = ColumnarValue::Array(Arc::new(StringArray::from_iter(texts)));
    let all = datafusion::functions::all_default_functions();
    let named = |functions: &[Arc<ScalarUDF>], name: &str| {
        Arc::clone(functions.iter().find(|function| function.name() == name).unwrap())
    };
    let call = |function: &ScalarUDF, args: Vec<ColumnarValue>, to: DataType| {
        let fields = args.iter().map(|value| Arc::new(Field::new("x", value.data_type(), true)));
        let args = ScalarFunctionArgs {
            arg_fields: fields.collect(),
            args,
            number_rows: 5,
            return_field: Arc::new(Field::new("y", to, true)),
            config_options: Arc::default(),
        };
        function.invoke_with_args(args).unwrap().into_array(5).unwrap()
    };
    let compared = ColumnarValue::Array(Arc::new(StringArray::from_iter([
        Some("kitten".repeat(1500)),
        Some("sitting".to_owned()),
        None,
        Some(String::new()),
        Some("é".repeat(4000)),
    ])));
    let other = text(&"sitting".repeat(1500));
    for (name, args, to) in [
        ("character_length", vec![texts.clone()], DataType::Int32),
        ("repeat", vec![texts.clone(), number(2)], DataType::Utf8),
        ("lpad", vec![texts.clone(), number(40_000_000)], DataType::Utf8),
        ("md5", vec![texts.clone()], DataType::Utf8View),
        ("concat", vec![text("before "), texts], DataType::Utf8),
        ("levenshtein", vec![compared, other], DataType::Int32),
    ] {
        let bounded = call(&named(&bounded_functions(&all), name), args.clone(), to.clone());
        assert!(bounded == call(&named(&all, name), args, to), "{name}");
    }
}

#[test]
fn items_are_looked_for_in_parts() {
    let list = |items: std::ops::Range<i64>| {
        let items: Vec<ScalarValue> = items.map(ScalarValue::from).collect();
        ColumnarValue::Scalar(ScalarValue::List(ScalarValue::new_list_nullable(&items, &DataType::Int64)))
    };
    let all = datafusion::functions_nested::all_default_nested_functions();
    for (name, looked_for, expected) in [
        ("array_has_all", 5..10_000, true),
        ("array_has_all", 5..10_001, false),
        ("array_has_any", 9_999..20_000, true),
        ("array_has_any", -9_000..0, false),
    ] {
        let function = bounded_functions(&all).into_iter().find(|function| function.name() == name).unwrap();
        let args = vec![list(0..10_000), list(looked_for)];
        let fields = args.iter().map(|value| Arc::new(Field::new("x", value.data_type(), true)));
        let args = ScalarFunctionArgs {
            arg_fields: fields.collect(),
            args,
            number_rows: 1,
            return_field: Arc::new(Field::new("y", DataType::Boolean, true)),
            config_options: Arc::default(),
        };
        let answer = function.invoke_with_args(args).unwrap().into_array(1).unwrap();
        assert_eq!(answer.as_boolean().value(0), expected, "{name}");
    }
}

#[test]
fn sizes_are_those_of_the_values() {
    let texts = ColumnarValue::Array(Arc::new(StringArray::from(vec![Some("ab"), None, Some("cde")])));
    let counts = ColumnarValue::Array(Arc::new(Int64Array::from(vec![Some(10), Some(5), Some(-1)])));
    assert_eq!(bytes(Growth::Repeat, &[texts.clone(), counts], 3), 20);
    assert_eq!(bytes(Growth::Repeat, &[text("xyz"), number(1 << 40)], 1), 3 << 40);
    assert_eq!(bytes(Growth::Repeat, &[text("xyz"), number(i64::MAX)], 1), usize::MAX);
    assert_eq!(bytes(Growth::Pad, &[text("a"), number(100)], 1), 100);
    assert_eq!(bytes(Growth::Pad, &[text("a"), number(100), text("é")], 1), 200);
    assert_eq!(bytes(Growth::Series, &[number(1), number(1000)], 1), 8000);
    assert_eq!(bytes(Growth::Series, &[number(1000), number(1), number(-3)], 1), 8 * 334);
    assert_eq!(bytes(Growth::Series, &[number(i64::MIN), number(i64::MAX)], 1), usize::MAX);
    assert_eq!(bytes(Growth::RepeatValue, &[number(7), number(50)], 1), 50 * 16);
    assert_eq!(bytes(Growth::Concat, &[texts.clone(), text("xyz")], 3), 5 + 9);
    assert_eq!(bytes(Growth::Join, &[text(", "), texts.clone(), texts.clone()], 3), 10 + 12);
    assert_eq!(bytes(Growth::Replace, &[texts, text("a"), text("b")], 3), 5);
    assert!(bytes(Growth::Replace, &[text("aaaa"), text("a"), text("bbb")], 1) >= 12);
}
