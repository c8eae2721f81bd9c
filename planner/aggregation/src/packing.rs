//! The best shares of a fixed placement: max sum F_s subject to n F <= capacity, F >= 0, a packing program
//! with one variable per server, solved by a dense primal simplex (the origin is feasible; Bland's rule
//! prevents cycling).

/// A constraint: coefficients (one per variable, none negative) and its limit.
pub(crate) struct Row {
    pub uses: Vec<f64>,
    pub limit: f64,
}

const EPSILON: f64 = 1e-10;

/// Returns the variables that maximize their sum; every variable must be limited by some row.
pub(crate) fn maximize_sum(variables: usize, rows: &[Row]) -> Vec<f64> {
    // Scale limits so that tolerances do not depend on the unit.
    let unit = rows.iter().map(|row| row.limit).filter(|l| l.is_finite()).fold(0.0, f64::max).max(1e-300);
    let mut tableau: Vec<Vec<f64>> = Vec::with_capacity(rows.len() + 1);
    for row in rows.iter().filter(|row| row.limit.is_finite()) {
        let mut line = row.uses.clone();
        line.push(row.limit / unit);
        tableau.push(line);
    }
    // Columns hold the non-basic variables, `basis` the basic one of each row; slacks are numbered after
    // variables.
    let mut columns: Vec<usize> = (0..variables).collect();
    let mut basis: Vec<usize> = (variables..variables + tableau.len()).collect();
    let mut objective = vec![1.0; variables];
    objective.push(0.0);
    let pivots = 50 * (variables + 1) + tableau.len();
    for _ in 0..pivots {
        let entering = (0..variables).filter(|&c| objective[c] > EPSILON).min_by_key(|&c| columns[c]);
        let Some(column) = entering else { break };
        let leaving = (0..tableau.len()).filter(|&r| tableau[r][column] > EPSILON).min_by(|&a, &b| {
            let ratio = |r: usize| tableau[r][variables] / tableau[r][column];
            ratio(a).total_cmp(&ratio(b)).then(basis[a].cmp(&basis[b]))
        });
        let Some(row) = leaving else { break };
        pivot(&mut tableau, &mut objective, row, column, variables);
        std::mem::swap(&mut basis[row], &mut columns[column]);
    }
    let mut values = vec![0.0; variables];
    for (row, &variable) in basis.iter().enumerate() {
        if variable < variables {
            values[variable] = tableau[row][variables].max(0.0) * unit;
        }
    }
    values
}

fn pivot(tableau: &mut [Vec<f64>], objective: &mut [f64], row: usize, column: usize, last: usize) {
    let factor = 1.0 / tableau[row][column];
    for (c, value) in tableau[row].iter_mut().enumerate() {
        *value = if c == column { factor } else { *value * factor };
    }
    let pivot_row = tableau[row].clone();
    let eliminate = |line: &mut [f64]| {
        let amount = line[column];
        if amount != 0.0 {
            for (c, value) in line.iter_mut().enumerate() {
                *value = if c == column { -amount * factor } else { *value - amount * pivot_row[c] };
            }
            line[last] = if line[last].abs() < 1e-14 { 0.0 } else { line[last] };
        }
    };
    for (r, line) in tableau.iter_mut().enumerate() {
        if r != row {
            eliminate(line);
        }
    }
    eliminate(objective);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(uses: &[f64], limit: f64) -> Row {
        Row { uses: uses.to_vec(), limit }
    }

    #[test]
    fn one_server_takes_the_tightest_limit() {
        assert_eq!(maximize_sum(1, &[row(&[2.0], 8.0), row(&[4.0], 6.0)]), vec![1.5]);
    }

    #[test]
    fn fig1_shares() {
        // s1: four on v1, two direct; s2: six on v2... any mix: 1.5 + 1.0 is the published optimum of this
        // placement.
        let rows =
            [row(&[4.0, 0.0], 6.0), row(&[0.0, 6.0], 6.0), row(&[3.0, 1.0], 6.0), row(&[1.0, 4.0], 5.5)];
        let f = maximize_sum(2, &rows);
        assert!((f[0] - 1.5).abs() < 1e-9 && (f[1] - 1.0).abs() < 1e-9, "{f:?}");
    }

    #[test]
    fn a_useless_server_gets_nothing() {
        assert_eq!(maximize_sum(2, &[row(&[1.0, 0.0], 5e9), row(&[0.0, 1.0], 0.0)]), vec![5e9, 0.0]);
    }
}
